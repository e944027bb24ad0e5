import type * as Crypto from "node:crypto";
import type * as Fs from "node:fs";
import { type MessagePort, Worker } from "node:worker_threads";

/** What the thread is told: a batch to write, or with none to give the hash. */
type Order = { batch: Uint8Array<ArrayBuffer>; at: number } | { batch: null };
type Reply = { memory: ArrayBuffer } | { sha256: string } | { fault: string; code: string | undefined };

/**
 * Writes and hashes a file in a thread of its own. Hashing alone takes as long as all else that is done with an output,
 * and what a processor has just read to hash it, it writes at half the price.
 */
export class SpoolThread {
  readonly #worker: Worker;
  #answer: { resolve: (reply: Reply) => void; reject: (error: Error) => void } | null = null;
  #fault: Error | null = null;

  /** `descriptor` is open for both and has the file's first bytes already. */
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

  /** The batch is to stand at `at`. Its memory goes to the thread, and comes back. One call at a time; nobody else writes the file. */
  async write(batch: Buffer<ArrayBuffer>, at: number): Promise<ArrayBuffer> {
    const reply = await this.#ask({ batch, at }, [batch.buffer]);
    return "memory" in reply ? reply.memory : new ArrayBuffer(0);
  }

  /** Of the whole file. */
  async digest(): Promise<string> {
    const reply = await this.#ask({ batch: null });
    return "sha256" in reply ? reply.sha256 : "";
  }

  /** Ends the thread. */
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

/** What a thread is given of node:worker_threads. */
interface ThreadSide {
  parentPort: MessagePort;
  workerData: { descriptor: number };
}

/** The thread's whole program: it is sent as text, so it uses nothing from around it. */
function keepFile({ parentPort, workerData }: ThreadSide, fs: typeof Fs, crypto: typeof Crypto): void {
  // Small enough to stay in a processor's cache from the hash to the write.
  const pieceBytes = 131_072;
  const { descriptor } = workerData;
  const hash = crypto.createHash("sha256");
  let hashed = 0;
  const readBack = (to: number): void => {
    const piece = Buffer.allocUnsafeSlow(pieceBytes);
    while (hashed < to) {
      const read = fs.readSync(descriptor, piece, 0, Math.min(piece.length, to - hashed), hashed);
      if (read === 0) throw new Error("the file is shorter than what was written");
      hash.update(piece.subarray(0, read));
      hashed += read;
    }
  };
  const keep = (batch: Uint8Array, at: number): void => {
    readBack(at);
    for (let from = 0; from < batch.length; from += pieceBytes) {
      const piece = batch.subarray(from, from + pieceBytes);
      hash.update(piece);
      for (let done = 0; done < piece.length; ) {
        done += fs.writeSync(descriptor, piece, done, piece.length - done, at + from + done);
      }
    }
    hashed += batch.length;
  };
  parentPort.on("message", (order: Order) => {
    try {
      if (order.batch === null) return parentPort.postMessage({ sha256: hash.digest("hex") }, []);
      keep(order.batch, order.at);
      const memory = order.batch.buffer;
      parentPort.postMessage({ memory }, [memory]);
    } catch (error) {
      const { message, code } = error as NodeJS.ErrnoException;
      parentPort.postMessage({ fault: message, code }, []);
    }
  });
}
