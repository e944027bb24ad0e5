/**
 * A thrown value as the model may see it. Within its limits the error itself; else a new one of the same prototype and
 * with the same own properties, its message clamped and its stack without the text. The thrown one is not changed.
 */
export async function clampError(thrown: unknown, clamp: (message: string) => Promise<string>): Promise<unknown> {
  if (typeof thrown === "string") return clamp(thrown);
  if (!(thrown instanceof Error)) return thrown;
  const { message } = thrown;
  const clamped = await clamp(message);
  if (clamped === message) return thrown;
  const own = Object.getOwnPropertyDescriptors(thrown);
  const hidden = (value: string) => ({ value, writable: true, enumerable: false, configurable: true });
  return Object.create(Object.getPrototypeOf(thrown), {
    ...own,
    message: hidden(clamped),
    stack: hidden(`${thrown.name}: ${clamped}`),
  });
}
