import { readFile, stat } from "node:fs/promises";
import { type BoundedTool, boundedTool, type SessionHistories, type ToolPlace } from "./bounded-tool.ts";
import type { Roots } from "./roots.ts";

const USUAL_LIMIT = 50;
const MOST_LIMIT = 1_000_000;
/** Room for the fields beside the messages. The longest of them is the key. */
const OTHER_BYTES = 1024;
const MAX_KEY_CHARS = 200;
/** Where an agent lists its sessions by their keys. */
const INDEX_FILE = "sessions.json";
const MAX_INDEX_BYTES = 16 * 1024 * 1024;
const ENDINGS = ["", ".jsonl", ".json"];

/** `sessions_history`: another session's newest messages, in at most 80 KiB whatever the limit. */
export function sessionsHistoryTool(place: ToolPlace, histories: SessionHistories): BoundedTool {
  return boundedTool(
    {
      name: "sessions_history",
      description:
        "Reads the newest messages of a session. Long texts are cut and details left out; next is the offset of older ones.",
      inputSchema: {
        type: "object",
        properties: {
          sessionKey: { type: "string" },
          limit: { type: "integer", default: USUAL_LIMIT },
          includeTools: { type: "boolean", description: "also results of tools" },
          offset: { type: "integer" },
        },
        required: ["sessionKey"],
      },
    },
    async (args) => {
      const sessionKey = args.requiredText("sessionKey");
      if (sessionKey.length > MAX_KEY_CHARS) throw new Error(`sessionKey has more than ${MAX_KEY_CHARS} characters`);
      const file = await findTranscript(histories.roots, sessionKey);
      const { limits } = place.spillway.resolve("sessions_history");
      const history = await histories.read(file, {
        limit: args.count("limit", USUAL_LIMIT, MOST_LIMIT),
        offset: args.count("offset", 0, Number.MAX_SAFE_INTEGER),
        includeTools: args.flag("includeTools"),
        maxBytes: Math.max(OTHER_BYTES, (limits.maxBytes ?? Infinity) - OTHER_BYTES),
      });
      const { messages, truncated, droppedMessages, contentTruncated, bytes, next } = history;
      const answer = { sessionKey, messages, truncated, droppedMessages, contentTruncated, bytes, next };
      const output = JSON.stringify(answer);
      return (await place.spillway.admit({ tool: "sessions_history", session: place.session, output })).text;
    },
  );
}

/** A key is a name in the agent's list of sessions, or a file's name with or without its ending. */
async function findTranscript(roots: Roots, key: string): Promise<string> {
  const listed = await listedFile(roots, key);
  for (const name of [...(listed === null ? [] : [listed]), ...ENDINGS.map((ending) => `${key}${ending}`)]) {
    const path = await roots.find(name).catch(() => null);
    const status = path === null ? null : await stat(path).catch(() => null);
    if (path !== null && status?.isFile()) return path;
  }
  throw new Error(`there is no session ${JSON.stringify(key)}`);
}

async function listedFile(roots: Roots, key: string): Promise<string | null> {
  try {
    const path = await roots.find(INDEX_FILE);
    const status = await stat(path);
    if (!status.isFile() || status.size > MAX_INDEX_BYTES) return null;
    const index = JSON.parse(await readFile(path, "utf8")) as Record<string, { sessionId?: unknown }>;
    const { sessionId } = (Object.hasOwn(index, key) ? index[key] : null) ?? {};
    return typeof sessionId === "string" ? `${sessionId}.jsonl` : null;
  } catch {
    return null; // there is no such list
  }
}
