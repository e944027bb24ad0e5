/** Where the byte after the n-th break (from 1) stands, or -1 if there are fewer. */
export function afterBreak(bytes: Uint8Array, n: number): number {
  let left = n;
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] !== 10) continue;
    left -= 1;
    if (left === 0) return at + 1;
  }
  return -1;
}
