const TWO_32 = 2 ** 32;

/** 64-bit little-endian, for numbers that a double holds exactly. */
export function writeWide(buffer: Buffer, value: number, at: number): void {
  buffer.writeUInt32LE(value % TWO_32, at);
  buffer.writeUInt32LE(Math.floor(value / TWO_32), at + 4);
}

/** The other way. */
export function readWide(buffer: Buffer, at: number): number {
  return buffer.readUInt32LE(at) + buffer.readUInt32LE(at + 4) * TWO_32;
}
