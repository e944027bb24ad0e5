import { CARRIAGE_RETURN } from "./byte-class.ts";

/** The start of a line that earlier chunks brought. */
export class Carry {
  bytes: Uint8Array = new Uint8Array(256);
  length = 0;

  get endsInReturn(): boolean {
    return this.length > 0 && this.bytes[this.length - 1] === CARRIAGE_RETURN;
  }

  append(bytes: Uint8Array, start: number, end: number): void {
    const size = this.length + end - start;
    if (size > this.bytes.length) {
      const larger = new Uint8Array(Math.max(size, 2 * this.bytes.length));
      larger.set(this.bytes.subarray(0, this.length));
      this.bytes = larger;
    }
    this.bytes.set(bytes.subarray(start, end), this.length);
    this.length = size;
  }
}
