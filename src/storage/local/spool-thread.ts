import type * as Crypto from "node:crypto";
import type * as Fs from "node:fs";
import { type MessagePort, Worker } from "node:worker_threads";

/** Tells the thread to write a batch, or, if `batch` is null, to return the hash. */
type Order = { batch: Uint8Array<ArrayBuffer>; at: number } | { batch: null };
type Reply = { memory: ArrayBuffer } | { sha256: string } | { fault: string; code: string | undefined };

/**
 * Writes and hashes a file in its own thread. Hashing alone takes as long as everything else that is done with an
 * output. Bytes that were just read for the hash are still in the processor's cache, so that writing them costs half.
 */
export class SpoolThread {
  readonly #worker: Worker;
  #answer: { resolve: (reply: Reply) => void; reject: (error: Error) => void } | null = null;
  #fault: Error | null = null;

  /** `descriptor` must be open for reading and writing. The file may already hold its first bytes. */
  constructor(descriptor: number) {
    this.#worker = new Worker(
      `(${keepFile.toString()})(require("node:worker_threads"), require("node:fs"), require("node:crypto"))`,
      { eval: true, env: {}, workerData: { descriptor }, resourceLimits: { maxOldGenerationSizeMb: 16 } },
    );
    this.#worker.unref();
    this.#worker.on("message", (reply: Reply) => this.#answer?.resolve(reply));
    const fail = (error: Error) => {
      this.#fault ??= error;
      this.#answer?.reject(error);
    };
    this.#worker.on("error", fail);
    this.#worker.on("exit", () => fail(new Error("the thread that writes has ended")));
  }

  /**
   * Writes the batch at offset `at`. Moves the batch's memory to the thread and returns it. Call it once at a time;
   * nobody else may write the file.
   */
  async write(batch: Buffer<ArrayBuffer>, at: number): Promise<ArrayBuffer> {
    const reply = await this.#ask({ batch, at }, [batch.buffer]);
    return "memory" in reply ? reply.memory : new ArrayBuffer(0);
  }

  /** Returns the sha256 of the whole file. */
  async digest(): Promise<string> {
    const reply = await this.#ask({ batch: null });
    return "sha256" in reply ? reply.sha256 : "";
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  async #ask(order: Order, given: ArrayBuffer[] = []): Promise<Reply> {
    const reply = await new Promise<Reply>((resolve, reject) => {
      this.#answer = { resolve, reject };
      if (this.#fault !== null) reject(this.#fault);
      else this.#worker.postMessage(order, given);
    });
    if ("fault" in reply) throw Object.assign(new Error(reply.fault), { code: reply.code });
    return reply;
  }
}

/** The part of node:worker_threads that the thread uses. */
interface ThreadSide {
  parentPort: MessagePort;
  workerData: { descriptor: number };
}

/**
 * The thread's whole program. It is sent as text, so it must not use anything outside itself. Its functions are methods,
 * because a bundler that keeps the names of functions adds a call of its own to any other function.
 */
function keepFile({ parentPort, workerData }: ThreadSide, fs: typeof Fs, crypto: typeof Crypto): void {
  // A piece is small enough to stay in the processor's cache between the hash and the write.
  const pieceBytes = 131_072;
  const { descriptor } = workerData;
  const hash = crypto.createHash("sha256");
  let hashed = 0;
  const file = {
    readBack(to: number): void {
      const piece = Buffer.allocUnsafeSlow(pieceBytes);
      while (hashed < to) {
        const read = fs.readSync(descriptor, piece, 0, Math.min(piece.length, to - hashed), hashed);
        if (read === 0) throw new Error("the file is shorter than what was written");
        hash.update(piece.subarray(0, read));
        hashed += read;
      }
    },
    keep(batch: Uint8Array, at: number): void {
      file.readBack(at);
      for (let from = 0; from < batch.length; from += pieceBytes) {
        const piece = batch.subarray(from, from + pieceBytes);
        hash.update(piece);
        for (let done = 0; done < piece.length; ) {
          done += fs.writeSync(descriptor, piece, done, piece.length - done, at + from + done);
        }
      }
      hashed += batch.length;
    },
  };
  parentPort.on("message", (order: Order) => {
    try {
      if (order.batch === null) return parentPort.postMessage({ sha256: hash.digest("hex") }, []);
      file.keep(order.batch, order.at);
      const memory = order.batch.buffer;
      parentPort.postMessage({ memory }, [memory]);
    } catch (error) {
      const { message, code } = error as NodeJS.ErrnoException;
      parentPort.postMessage({ fault: message, code }, []);
    }
  });
}
