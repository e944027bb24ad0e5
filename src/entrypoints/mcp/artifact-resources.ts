import { recallText } from "../../recall/index.ts";
import type { Spillway } from "../../spillway.ts";

const SCHEME = "spillway://artifact/";
const MIME_TYPE = "text/plain";
const MAX_LISTED = 50;

/** The latest artifacts of a session, as MCP lists resources. */
export async function listArtifacts(spillway: Spillway, session: string): Promise<unknown[]> {
  const artifacts = await spillway.store?.list({ scope: spillway.scope, session, max: MAX_LISTED }).catch(() => []);
  return (artifacts ?? []).map(({ id, tool, bytes, lines }) => ({
    uri: `${SCHEME}${id}`,
    name: `output of ${tool.slice(0, 100)}`,
    description: `${lines} lines, ${bytes} bytes`,
    mimeType: MIME_TYPE,
    size: bytes,
  }));
}

/** How an artifact's lines are asked for. */
export function listTemplates(): unknown[] {
  return [
    {
      uriTemplate: `${SCHEME}{id}?lines={from}-{to}`,
      name: "saved tool output",
      description: "lines of a saved tool output; without ?lines= its first page",
      mimeType: MIME_TYPE,
    },
  ];
}

/** One page of an artifact; null for a resource that is not ours. */
export async function readArtifact(spillway: Spillway, uri: unknown): Promise<object | null> {
  if (typeof uri !== "string" || !uri.startsWith(SCHEME)) return null;
  const [id = "", query = ""] = uri.slice(SCHEME.length).split("?", 2);
  const [, from, to] = /^lines=(\d{1,15})-(\d{1,15})$/.exec(query) ?? [];
  const want = from === undefined ? undefined : { lines: [Number(from), Number(to)] as [number, number] };
  const text = await spillway.recall(id, want).then(recallText, (error: Error) => error.message);
  return { contents: [{ uri, mimeType: MIME_TYPE, text }] };
}

/** A saved output has this id. */
export async function isArtifact(spillway: Spillway, id: unknown): Promise<boolean> {
  if (typeof id !== "string" || !spillway.store) return false;
  return (await spillway.store.find(id, spillway.scope).catch(() => null)) !== null;
}
