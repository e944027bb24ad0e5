import { readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import type { Wire } from "../../contract/wire.ts";
import { SpillwayError } from "../../errors.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import { wireNamed, wires } from "../../wire/index.ts";
import { loaded } from "../../wire/stored-message.ts";
import { type Recorded, recordedIn } from "../replay/index.ts";
import { openTranscript, readSnapshot } from "./transcripts/open-transcript.ts";
import { readContext } from "./transcripts/read-context.ts";

/** The conversations in a file: JSON of one or of many, or JSON lines. */
export function readRecorded(file: string, wireName?: string): Recorded[] {
  const wire = wireName === undefined ? null : wireOf(wireName);
  const name = basename(file);
  const found = recordedIn(wholeValue(file), name, wire);
  if (found.length > 0) return found;
  const transcript = openTranscript(file, wireName);
  const messages = readSnapshot(transcript.path, (old) => readContext(transcript, old).messages.map(loaded));
  return [{ name, wire: transcript.wire, messages }];
}

/** Undefined if the file is not a single JSON value. */
function wholeValue(file: string): unknown {
  try {
    if (statSync(file).size > NUMBERS.transcriptFileBytes.default) return undefined;
    return JSON.parse(readFileSync(file, "utf8").replace(/^\ufeff/, ""));
  } catch {
    return undefined; // it is JSON lines, or cannot be read, which openTranscript reports
  }
}

function wireOf(name: string): Wire {
  const wire = wireNamed(name);
  if (wire !== null) return wire;
  const known = wires.map((one) => one.name).join(", ");
  throw new SpillwayError("bad-input", `--wire must be one of ${known}; got "${name}"`);
}
