import { extname } from "node:path";
import { counted, grouped } from "../../values.ts";
import { admitFitting, type BoundedTool, boundedTool, type ToolPlace } from "./bounded-tool.ts";
import { nameFolders } from "./roots.ts";
import { listFiles, SKIPPED_WORDS } from "./run-rg.ts";

const USUAL_TOKENS = 2000;
const MOST_TOKENS = 50_000;
/** With less room than this a definition says more than what was skipped. */
const LEAST_FOR_SKIPS = 200;
/** Endings of other files that are named. */
const MAX_ENDINGS = 5;

/** `repo_map`: the definitions that most other code refers to. */
export function repoMapTool(place: ToolPlace): BoundedTool {
  const { roots } = place;
  const tool = "repo_map";
  return boundedTool(
    {
      name: tool,
      description: `Maps source code: the most used definitions with their lines, file by file; public ones first, tests last. Leaves out ${SKIPPED_WORDS}.`,
      inputSchema: {
        type: "object",
        properties: {
          path: { type: "string", description: `a folder or a file, ${nameFolders(roots)}` },
          max_tokens: { type: "integer", default: USUAL_TOKENS },
        },
      },
    },
    async (args, signal) => {
      const paths = await roots.findAll(args.text("path"));
      const maxTokens = args.count("max_tokens", USUAL_TOKENS, MOST_TOKENS, 1);
      const [{ isKnownFile }, { rankFiles }, { drawMap }] = await Promise.all([
        import("../../drivers/repo-map/read-names.ts"),
        import("../../drivers/repo-map/rank-files.ts"),
        import("../../drivers/repo-map/rank-definitions.ts"),
      ]);
      const { files, isPartial } = await listFiles(roots, { paths }, signal);
      const known = files.filter(isKnownFile).toSorted();
      const { ranked, skipped } = await rankFiles(
        known.map((path) => ({ path, shown: roots.show(path) })),
        signal,
      );
      const left = [
        skipped.large > 0 ? `${counted(skipped.large, "file")} too large to be written by hand` : "",
        skipped.unreadable > 0 ? `${counted(skipped.unreadable, "file")} that cannot be read` : "",
        skipped.beyond > 0
          ? `${counted(skipped.beyond, "file")} after the first ${grouped(known.length - skipped.beyond)} (say a folder)`
          : "",
        isPartial ? "files that could not be listed in time" : "",
        otherFiles(files.filter((path) => !isKnownFile(path))),
      ].filter((part) => part !== "");
      const skips = left.length === 0 || maxTokens < LEAST_FOR_SKIPS ? "" : `; skipped: ${left.join(", ")}`;
      const most = Math.min(ranked.length, maxTokens);
      return admitFitting(place, { tool, size: { maxTokens } }, most, (rows) => {
        if (ranked.length === 0) return `[no source file in a language that this map knows${skips}]`;
        const map = drawMap(ranked.slice(0, rows));
        const note = `[${rows} of ${counted(ranked.length, "definition")}, in ${map.files} of ${counted(known.length, "source file")}${skips}]`;
        return [map.text, note].filter((part) => part !== "").join("\n");
      });
    },
  );
}

/** How many files are in no language that maps know, and of which kinds. */
function otherFiles(paths: readonly string[]): string {
  if (paths.length === 0) return "";
  const counts = new Map<string, number>();
  for (const path of paths) {
    const ending = extname(path);
    if (/^\.\w{1,10}$/.test(ending)) counts.set(ending, (counts.get(ending) ?? 0) + 1);
  }
  const endings = [...counts].toSorted(([, a], [, b]) => b - a).slice(0, MAX_ENDINGS);
  const kinds = endings.length === 0 ? "" : ` (${endings.map(([ending]) => ending).join(" ")})`;
  return `${counted(paths.length, "file")} in other languages${kinds}`;
}
