import { type OnReadOpts, Socket, type SocketConstructorOpts } from "node:net";

/** More than a pipe holds: a slot that is filled would be read behind at once, which finds next to nothing. */
const SLOT_BYTES = 68 * 1024;
const SLOTS = 8;

/** A command's output as it comes. A chunk is only valid until the next one is asked for. */
export interface CommandOutput extends AsyncIterable<Uint8Array> {
  destroy(): unknown;
}

/** Reads a pipe into the same memory over and over: a stream takes new memory for each chunk, which costs more than reading. */
export class PipeReader implements CommandOutput {
  readonly #socket: Socket;
  readonly #slots = Array.from({ length: SLOTS }, () => Buffer.allocUnsafeSlow(SLOT_BYTES));
  /** Slots filled and not yet done with, the oldest first; the ring goes on behind them. */
  readonly #chunks: Uint8Array[] = [];
  #next = 0;
  #isEnded = false;
  #fault: Error | null = null;
  #wake: (() => void) | null = null;

  constructor(descriptor: number) {
    const onread: OnReadOpts = {
      // Asked for right behind each read: where the next one goes.
      buffer: () => this.#slots[this.#next] ?? Buffer.alloc(SLOT_BYTES),
      callback: (bytes, slot) => {
        this.#chunks.push(slot.subarray(0, bytes));
        this.#next = (this.#next + 1) % SLOTS;
        this.#wakeUp();
        return this.#chunks.length < SLOTS;
      },
    };
    const options: SocketConstructorOpts & { onread: OnReadOpts } = {
      fd: descriptor,
      readable: true,
      writable: false,
      onread,
    };
    this.#socket = new Socket(options);
    const end = (fault: Error | null) => {
      this.#isEnded = true;
      this.#fault ??= fault;
      this.#wakeUp();
    };
    this.#socket
      .on("end", () => end(null))
      .on("error", (error) => end(error))
      .on("close", () => end(null))
      .resume();
  }

  #wakeUp(): void {
    this.#wake?.();
    this.#wake = null;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunk = this.#chunks[0];
      if (chunk !== undefined) {
        yield chunk;
        this.#chunks.shift();
        // It stands still only while every slot is taken.
        if (this.#chunks.length === SLOTS - 1) this.#socket.resume();
      } else if (this.#fault !== null) throw this.#fault;
      else if (this.#isEnded) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }

  destroy(): void {
    this.#socket.destroy();
  }
}
