import type { Spillway } from "../../spillway.ts";
import { isRecord } from "../../values.ts";

/** Whose result it is. */
export interface MediaOf {
  tool: string;
  session: string;
  call: string;
}

/** Lets images, sounds and files of a result take at most `maxBytes` together. Those beyond it are saved and replaced by words. */
export async function boundMedia(
  spillway: Spillway,
  of: MediaOf,
  result: Record<string, unknown>,
  maxBytes: number,
): Promise<Record<string, unknown>> {
  if (!Array.isArray(result.content)) return result;
  let left = maxBytes;
  let isChanged = false;
  const content: unknown[] = [];
  for (const block of result.content as unknown[]) {
    const media = mediaOf(block);
    const bytes = media === null ? 0 : bytesOf(media.data);
    if (media === null || bytes <= left) {
      left -= bytes;
      content.push(block);
      continue;
    }
    isChanged = true;
    content.push({ type: "text", text: await saved(spillway, of, media, bytes, maxBytes) });
  }
  return isChanged ? { ...result, content } : result;
}

interface Media {
  data: string;
  name: string;
}

/** What a block carries as base64. */
function mediaOf(block: unknown): Media | null {
  if (!isRecord(block)) return null;
  const { type, data, mimeType, resource } = block;
  if ((type === "image" || type === "audio") && typeof data === "string") return { data, name: named(mimeType, type) };
  if (type !== "resource" || !isRecord(resource) || typeof resource.blob !== "string") return null;
  return { data: resource.blob, name: named(resource.mimeType, "file") };
}

function named(mimeType: unknown, otherwise: string): string {
  return typeof mimeType === "string" && /^[\w.+/-]{1,100}$/.test(mimeType) ? mimeType : otherwise;
}

/** The decoded size, approximately: four characters are three bytes. */
function bytesOf(data: string): number {
  return Math.floor((data.length * 3) / 4);
}

async function saved(
  spillway: Spillway,
  of: MediaOf,
  { data, name }: Media,
  bytes: number,
  maxBytes: number,
): Promise<string> {
  const output = Buffer.from(data, "base64");
  // There is no room at all: the block is saved whole and nothing of it is shown.
  const { receipt } = await spillway.admit({ ...of, output, fold: false, limits: { maxBytes: 0 } });
  const kept = receipt.artifact === null ? "" : `; it is saved as ${receipt.artifact}`;
  return `[${name} of ${bytes} bytes is left out: a result may have ${maxBytes} bytes of media${kept}]`;
}
