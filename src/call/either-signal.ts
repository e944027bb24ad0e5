/** Aborted when either is, for as long as it is used: a stream that was handed on still ends with its caller's signal. */
export function eitherSignal(one: AbortSignal | undefined, other: AbortSignal): AbortSignal {
  if (one === undefined) return other;
  if (typeof AbortSignal.any === "function") return AbortSignal.any([one, other]);
  const both = new AbortController();
  for (const signal of [one, other]) {
    if (signal.aborted) both.abort(signal.reason);
    else signal.addEventListener("abort", () => both.abort(signal.reason), { once: true });
  }
  return both.signal;
}
