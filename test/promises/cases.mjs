import { KINDS } from "./outputs.mjs";
import { Random } from "./random.mjs";

export const STRATEGIES = [
  "auto",
  "signal",
  "json",
  "table",
  "diff",
  "matches",
  "listing",
  "sections",
  "outline",
  "head",
  "tail",
  "head-tail",
];

const TOOLS = [
  "tool",
  "run_command",
  "bash",
  "read_file",
  "list_directory",
  "search_files",
  "mcp__logs__query",
  "web_fetch",
];

/** One case: an output, the limits it is held to, and all that is said of it. The same seed gives the same case. */
export function makeCase(seed, { mostBytes = 60_000, blocks = true } = {}) {
  const r = new Random(seed);
  const kind = r.pick(Object.keys(KINDS));
  const shape = r.chance(0.12) && blocks ? "blocks" : r.pick(["text", "bytes", "stream"]);
  const about = {
    seed,
    kind,
    shape,
    limits: makeLimits(r),
    strategy: r.chance(0.3) ? "auto" : r.pick(STRATEGIES),
    fold: r.chance(0.5),
    exitCode: r.pick([null, null, null, 0, 1, 137]),
    tool: r.pick(TOOLS),
    chunks: r.list(r.int(0, 9), () => r.next()),
  };
  if (shape === "blocks") return { ...about, blocks: makeBlocks(r, kind) };
  const bytes = Buffer.from(KINDS[kind](r, r.chance(0.03) ? 0 : r.scale(1, r.chance(0.02) ? 5000 : 400)));
  return { ...about, bytes: bytes.subarray(0, mostBytes) };
}

/** Any limits in any combination, down to nothing. */
function makeLimits(r) {
  const limit = (most) =>
    r.pick([() => r.int(0, 12), () => r.int(0, 200), () => r.scale(10, most), () => r.scale(100, most)])();
  const limits = {};
  if (r.chance(0.4)) limits.maxBytes = limit(60_000);
  if (r.chance(0.4)) limits.maxChars = limit(60_000);
  if (r.chance(0.4)) limits.maxLines = r.pick([r.int(0, 5), r.int(1, 60), r.scale(1, 2500)]);
  if (r.chance(0.2)) limits.maxTokens = limit(15_000);
  return limits;
}

/** Blocks of a structured result: texts of one kind or of several, with media and unknown blocks between them. */
function makeBlocks(r, kind) {
  const count = r.scale(1, 5000);
  const lines = Math.max(1, Math.ceil(400 / count));
  return r.list(count, (index) => {
    if (r.chance(0.1))
      return { type: "image", data: Buffer.from(`image ${index}`).toString("base64"), mimeType: "image/png" };
    if (r.chance(0.03)) return { type: "resource_link", uri: `file:///f${index}`, name: r.words(1) };
    const from = r.chance(0.2) ? r.pick(Object.keys(KINDS)) : kind;
    const text = Buffer.from(
      KINDS[from](r, r.chance(0.1) ? 0 : r.scale(1, r.chance(0.2) ? lines * 5 : lines)),
    ).toString();
    return { type: "text", text, ...(r.chance(0.1) && { annotations: { audience: ["user"] } }) };
  });
}

/** The output in pieces, cut anywhere. */
export function chunksOf({ bytes, chunks }) {
  const borders = [...new Set([0, ...chunks.map((share) => Math.floor(share * bytes.length)), bytes.length])].sort(
    (a, b) => a - b,
  );
  return borders.slice(1).map((to, index) => Buffer.from(bytes.subarray(borders[index], to)));
}
