import { isUtf8 } from "node:buffer";
import type { RecordedEvent } from "../../contract/event.ts";
import type { Store } from "../../contract/store.ts";
import { counted } from "../../values.ts";
import { sizeText } from "./amounts.ts";
import type { PlaceFlags, ReadPlace } from "./open-place.ts";
import { tell } from "./tell.ts";
import { writeOut } from "./write-out.ts";

/** An event with the text of its artifact; null if it has no artifact, or the artifact is gone. */
interface FullEvent extends RecordedEvent {
  text: string | null;
  /** Why there is no text though the artifact is there: its size, and the command that reads it. */
  textOmitted?: string;
  /** The bytes are not UTF-8, so the text is not all that was saved. */
  lossy?: true;
}

/** Few readers take longer lines. Even with every byte escaped, a line of this size fits into one string. */
const MAX_TEXT_BYTES = 64 * 1024 * 1024;

/** Used in help texts and on standard error. */
export const LEFT_OUT =
  'An output of more than 64 MiB is left out: its text is null, and "textOmitted" names the command that reads it.';

/** Writes events as lines of JSON, each with its artifact's text; `end` tells how many texts were left out. */
export function fullEventWriter(place: Pick<ReadPlace, "store" | "scope">, { dir }: PlaceFlags) {
  const omitted = new Set<string | null>();
  return {
    async write(event: RecordedEvent): Promise<void> {
      const { line, isOmitted } = await fullEventLine(place, event);
      if (isOmitted) omitted.add(event.artifact);
      await writeOut(line);
    },
    end(): void {
      if (omitted.size === 0) return;
      const place = dir === undefined ? "" : "; add the same --dir";
      tell(
        `${counted(omitted.size, "output")} too long for a line left out: "textOmitted" names the command that reads each${place}`,
      );
    },
  };
}

/** One event with the artifact that it names, as a line. */
export async function fullEventLine(
  { store, scope }: { store: Pick<Store, "find" | "read">; scope: string },
  event: RecordedEvent,
): Promise<{ line: string; isOmitted: boolean }> {
  const { artifact } = event;
  const found = artifact === null ? null : await store.find(artifact, scope);
  if (found === null) return { line: lineOf({ ...event, text: null }), isOmitted: false };
  const textOmitted = `${sizeText(found.bytes)}: spillway recall ${found.id} --raw`;
  const omitted = () => ({ line: lineOf({ ...event, text: null, textOmitted }), isOmitted: true });
  if (found.bytes > MAX_TEXT_BYTES) return omitted();
  // If the artifact is gone or damaged, the event is written without its text.
  const bytes = await store.read(found.id, scope, { from: 0, to: found.bytes }).catch(() => null);
  const text = bytes && new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  try {
    const line = lineOf({ ...event, text, ...(bytes && !isUtf8(bytes) && { lossy: true }) });
    return { line, isOmitted: false };
  } catch {
    // If one event cannot be written as a line, the events after it are still written.
    return omitted();
  }
}

function lineOf(event: FullEvent): string {
  return `${JSON.stringify(event)}\n`;
}
