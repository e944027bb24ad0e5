/**
 * A thrown value as the model may see it. Within its limits the error itself; else a new one of the same prototype and
 * with the same own properties, its message clamped and its stack without the text. The thrown one is not changed.
 */
export async function clampError(thrown: unknown, clamp: (thrown: unknown) => Promise<unknown>): Promise<unknown> {
  if (!(thrown instanceof Error)) return clamp(thrown);
  const message = String(thrown.message);
  const clamped = String(await clamp(message));
  return clamped === message ? thrown : errorWith(thrown, clamped);
}

/** A copy of an error with another message. */
export function errorWith(thrown: Error, message: string): Error {
  // Its fields are not its own: a copy would have none of them.
  if (typeof DOMException === "function" && thrown instanceof DOMException)
    return new DOMException(message, thrown.name);
  const own = Object.getOwnPropertyDescriptors(thrown);
  const hidden = (value: string) => ({ value, writable: true, enumerable: false, configurable: true });
  return Object.create(Object.getPrototypeOf(thrown), {
    ...own,
    message: hidden(message),
    stack: hidden(`${thrown.name}: ${message}`),
  });
}
