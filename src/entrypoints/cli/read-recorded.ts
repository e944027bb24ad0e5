import { readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import { requireWire } from "../../wire/registry.ts";
import { loaded } from "../../wire/stored-message.ts";
import { type Recorded, recordedIn } from "../replay/index.ts";
import { openTranscript, readSnapshot } from "./transcripts/open-transcript.ts";
import { readContexts } from "./transcripts/read-context.ts";

/** The conversations in a file: JSON of one or of many, or JSON lines. */
export function readRecorded(file: string, wireName?: string): Recorded[] {
  const wire = wireName === undefined ? null : requireWire(wireName, "--wire");
  const name = basename(file);
  const found = recordedIn(wholeValue(file), name, wire);
  if (found.length > 0) return found;
  const transcript = openTranscript(file, wireName);
  return readSnapshot(transcript.path, (old) => {
    const { contexts, answersBeside } = readContexts(transcript, old);
    // After a compaction the model is sent a new conversation, which begins with what the compaction kept.
    return contexts.map(({ messages, carried }, at) => ({
      name: at === 0 ? name : `${name}, after compaction ${at}`,
      wire: transcript.wire,
      messages: messages.slice().map(loaded),
      carried,
      leftOut: at === 0 ? answersBeside : 0,
    }));
  });
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
