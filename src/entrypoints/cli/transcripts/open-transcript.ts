import { closeSync, fstatSync, openSync, readSync, realpathSync } from "node:fs";
import type { Wire } from "../../../contract/wire.ts";
import { badInput, type SpillwayError } from "../../../errors.ts";
import { NUMBERS } from "../../../stages/policy/defaults.ts";
import { grouped } from "../../../values.ts";
import { detectWire, wireNamed } from "../../../wire/index.ts";
import { readRequest, requireWire } from "../../../wire/registry.ts";
import { isEntry, isHeader, isPlainEntry } from "./entries.ts";
import { isBlank, parseLine, readLines } from "./read-lines.ts";
import type { Sink, Snapshot } from "./rewrite-file.ts";

/** What a file holds. */
export type Kind =
  /** JSON lines of a pi or OpenClaw session: entries that form a tree. */
  | "entries"
  /** JSON lines, each a message. */
  | "messages"
  /** One JSON value: a list of messages, or a request's body. */
  | "document";

/** A file with messages. */
export interface Transcript {
  /** The path with links followed, so that a link stays a link when the file is replaced. */
  path: string;
  kind: Kind;
  wire: Wire;
}

const SAMPLE_LINES = 64;
const SAMPLE_BYTES = 8 * 1024 * 1024;

/** Finds out what a file holds, or says why it cannot be used. */
export function openTranscript(file: string, wireName?: string): Transcript {
  const named = wireName === undefined ? null : requireWire(wireName, "--wire");
  const path = realPath(file);
  return readSnapshot(path, (snapshot) => {
    const sample = sampleOf(snapshot);
    if (sample === null) {
      const { wire } = readDocument(path, snapshot, named);
      return { path, kind: "document", wire };
    }
    if (sample.some((value) => isHeader(value) || isEntry(value) || isPlainEntry(value))) {
      return { path, kind: "entries", wire: named ?? (wireNamed("pi") as Wire) };
    }
    const wire = named ?? detectWire(sample);
    if (wire === null) throw unknownFormat(path);
    return { path, kind: "messages", wire };
  });
}

/** A JSON value with messages in it, read whole. */
export interface Document {
  wire: Wire;
  messages: readonly unknown[];
  /** The file's new text with other messages. */
  text(messages: readonly unknown[]): string;
}

/** Reads a file that is one JSON value. */
export function readDocument(path: string, { descriptor, bytes }: Snapshot, named: Wire | null): Document {
  const maxBytes = NUMBERS.transcriptFileBytes.default;
  if (bytes > maxBytes) {
    const most = `${grouped(bytes)} bytes are more than the ${grouped(maxBytes)} that are read at once`;
    throw badInput(`${path} is no JSON lines, and its ${most}`);
  }
  const buffer = Buffer.allocUnsafe(bytes);
  for (let at = 0; at < bytes; ) {
    const length = readSync(descriptor, buffer, at, bytes - at, at);
    if (length === 0) break;
    at += length;
  }
  const text = buffer.toString("utf8");
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ""));
  } catch (error) {
    throw badInput(`${path} is neither JSON nor JSON lines: ${(error as Error).message}`);
  }
  // Keeps the indentation of the file.
  const indent = /^\s*[[{]\r?\n([ \t]+)/.exec(text)?.[1];
  const end = /\s*$/.exec(text)?.[0] ?? "";
  const write = (changed: unknown) => JSON.stringify(changed, null, indent) + end;
  if (Array.isArray(value)) {
    const wire = named ?? detectWire(value);
    if (wire === null) throw unknownFormat(path);
    return { wire, messages: value, text: write };
  }
  const request = readRequest(value);
  if (request === null) throw unknownFormat(path);
  return { wire: named ?? request.wire, messages: request.messages, text: (changed) => write(request.put(changed)) };
}

/** Opens a file, calls the function with its present bytes, and closes it. */
export function readSnapshot<T>(path: string, act: (snapshot: Snapshot) => T): T {
  const descriptor = openSync(path, "r");
  try {
    return act({ descriptor, bytes: fstatSync(descriptor).size });
  } finally {
    closeSync(descriptor);
  }
}

/** Does what a rewrite would do, but writes nothing. */
export async function tryOut(
  path: string,
  make: (old: Snapshot, sink: Sink) => Promise<boolean>,
): Promise<{ backup: null; appendedBytes: 0 }> {
  const descriptor = openSync(path, "r");
  try {
    await make({ descriptor, bytes: fstatSync(descriptor).size }, { write() {}, copy() {} });
    return { backup: null, appendedBytes: 0 };
  } finally {
    closeSync(descriptor);
  }
}

/** The values of the first lines; null if the file is not JSON lines. */
function sampleOf({ descriptor, bytes }: Snapshot): unknown[] | null {
  const values: unknown[] = [];
  let seen = 0;
  for (const line of readLines(descriptor, 0, bytes)) {
    if (isBlank(line)) continue;
    const value = parseLine(line);
    const isWhole = line.to >= bytes && values.length === 0;
    // The one line is a list of messages, or a request's body.
    if (isWhole && !isHeader(value) && !isEntry(value) && (Array.isArray(value) || readRequest(value) !== null))
      return null;
    if (typeof value === "object" && value !== null && !Array.isArray(value)) values.push(value);
    else if (values.length === 0 && line.bytes !== null && ++seen > 2) return null;
    if (values.length >= SAMPLE_LINES || line.to > SAMPLE_BYTES) break;
  }
  return values.length === 0 ? null : values;
}

function realPath(file: string): string {
  try {
    const path = realpathSync(file);
    const descriptor = openSync(path, "r");
    const isFile = fstatSync(descriptor).isFile();
    closeSync(descriptor);
    if (!isFile) throw Object.assign(new Error("it is not a file"), { code: "EISDIR" });
    return path;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const known: Record<string, string> = {
      ENOENT: "no such file",
      EACCES: "permission denied",
      EISDIR: "it is not a file",
    };
    throw badInput(`cannot read ${file}: ${known[code ?? ""] ?? message}`, { cause: error });
  }
}

function unknownFormat(path: string): SpillwayError {
  return badInput(`${path} has no messages in a format we know; name it with --wire if it has`);
}
