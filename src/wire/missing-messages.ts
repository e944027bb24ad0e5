import type { Wire, WireCall } from "../contract/wire.ts";

/** Messages that answer calls which got no result: one for all where the format allows it, else one for each. */
export function missingMessages(wire: Wire, calls: readonly WireCall[], text: string): unknown[] {
  const single = calls.map((call) => wire.missing([call], text));
  const answerable = calls.filter((_call, at) => single[at] !== null);
  if (answerable.length === 0) return [];
  const whole = wire.missing(answerable, text);
  return wire.read(whole).results.length === answerable.length ? [whole] : single.filter((message) => message !== null);
}
