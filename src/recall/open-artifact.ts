import type { SearchSource } from "../contract/searcher.ts";
import type { Artifact, ByteRange, HeldArtifact, Scope, Store } from "../contract/store.ts";
import { badInput, SpillwayError } from "../errors.ts";
import { malformedId, unknownArtifact } from "../stages/mark/recall-texts.ts";
import { tried } from "../values.ts";

const ID = /^[a-z2-7]{12}$/;
/** Small reads that are close together share one read of this size. A quarter of it is before the requested bytes. */
const NEAR_BYTES = 16_384;
/** How many such reads are held: enough for the hits of a page. */
const MOST_NEAR = 64;

/** An artifact that its reader may read. If it is removed meanwhile, calls fail as if it had never existed. */
export interface OpenArtifact {
  artifact: Artifact;
  /** Returns the bytes of a range, clipped to the artifact. */
  read(range: ByteRange): Promise<Uint8Array>;
  /** Returns the byte range of lines, with their line breaks. */
  locate(lines: [from: number, to: number]): Promise<ByteRange>;
  lineAt(byte: number): Promise<number>;
  /** Returns the artifact in the form that a searcher takes. */
  source(): Promise<SearchSource>;
  close(): Promise<void>;
}

/** Checks an id before any store sees it, then finds its artifact. */
export async function openArtifact(store: Store, id: string, scope: Scope): Promise<OpenArtifact> {
  if (typeof id !== "string" || !ID.test(id)) throw badInput(malformedId(id));
  const there = <T>(value: T | null): T => {
    if (value === null) throw new SpillwayError("unknown-artifact", unknownArtifact(id));
    return value;
  };
  const artifact = there(await store.find(id, scope));
  const locate = async (lines: [number, number]) => there(await store.locate(id, scope, lines));
  const near: { from: number; bytes: Uint8Array }[] = [];
  let holding: Promise<HeldArtifact> | null = null;

  // Opens the bytes at the first read. A caller that only asks for the size opens nothing.
  function hold(): Promise<HeldArtifact> {
    holding ??= (async () => {
      if (store.hold !== undefined) return there(await store.hold(id, scope));
      return { read: async (range) => there(await store.read(id, scope, range)), close: async () => {} };
    })();
    return holding;
  }

  async function read(range: ByteRange): Promise<Uint8Array> {
    const from = Math.max(0, range.from);
    const to = Math.min(range.to, artifact.bytes);
    if (to <= from) return new Uint8Array(0);
    if (to - from > NEAR_BYTES / 2) return (await hold()).read({ from, to });
    let held = near.find((other) => other.from <= from && to <= other.from + other.bytes.length);
    if (held === undefined) {
      const start = Math.max(0, from - NEAR_BYTES / 4);
      const end = Math.min(start + NEAR_BYTES, artifact.bytes);
      held = { from: start, bytes: await (await hold()).read({ from: start, to: end }) };
      if (near.push(held) > MOST_NEAR) near.shift();
    }
    return held.bytes.subarray(from - held.from, to - held.from);
  }

  // Halving alone would need up to 30 calls. Guesses by proportion in between come close at once if lines have similar
  // lengths.
  async function lineAt(byte: number): Promise<number> {
    const low = { line: 1, byte: 0 };
    const high = { line: Math.max(1, artifact.lines), byte: artifact.bytes };
    for (let tries = 0; low.line < high.line; tries++) {
      const share = tries % 2 === 0 ? (byte - low.byte) / (high.byte - low.byte) : 0.5;
      const middle = Math.min(low.line + Math.floor(share * (high.line - low.line + 1)), high.line);
      const { from, to } = await locate([middle, middle]);
      if (byte >= from && byte < to) return middle;
      if (byte < from) Object.assign(high, { line: Math.max(middle - 1, low.line), byte: from });
      else Object.assign(low, { line: Math.min(middle + 1, high.line), byte: to });
    }
    return low.line;
  }

  return {
    artifact,
    locate,
    lineAt,
    read,
    async source() {
      return { file: await store.file(id, scope), bytes: artifact.bytes, read };
    },
    close: async () => (await holding?.catch(() => null))?.close(),
  };
}

/** A saved output, whole. If it is removed meanwhile, reading fails as if it had never existed. */
export interface WholeArtifact extends Artifact {
  /** Returns all bytes. They are in memory at once: use `stream` for an output of any size. */
  read(): Promise<Uint8Array>;
  /** Returns all bytes as text. Bytes that are not UTF-8 become U+FFFD. */
  text(): Promise<string>;
  /** Yields all bytes in order, in pieces. */
  stream(): AsyncGenerator<Uint8Array>;
}

/** How many bytes a stream yields at a time. A server answers others between two pieces, so that they are small. */
const PIECE_BYTES = 128 * 1024;

/** Finds an artifact and gives access to all of it. */
export async function wholeArtifact(store: Store, id: string, scope: Scope): Promise<WholeArtifact> {
  const { artifact } = await openArtifact(store, id, scope);
  async function* stream(): AsyncGenerator<Uint8Array> {
    const { read, close } = await openArtifact(store, id, scope);
    try {
      for (let from = 0; from < artifact.bytes; from += PIECE_BYTES) yield await read({ from, to: from + PIECE_BYTES });
    } finally {
      await close();
    }
  }
  async function read(): Promise<Uint8Array> {
    const whole = new Uint8Array(artifact.bytes);
    let at = 0;
    for await (const piece of stream()) {
      whole.set(piece, at);
      at += piece.length;
    }
    return whole;
  }
  return {
    ...artifact,
    stream,
    read,
    text: async () => new TextDecoder("utf-8", { ignoreBOM: true }).decode(await read()),
  };
}

/** What made a saved output, as its caller said it: arguments are saved as JSON where there was no command. */
export function savedMade(command: string | null): { command?: string; args?: unknown } {
  if (command === null) return {};
  const args: unknown = /^["[{]/.test(command) ? tried(() => JSON.parse(command)) : null;
  return args === null ? { command } : { args };
}
