import { type BoundedTool, boundedTool, type ToolPlace } from "./bounded-tool.ts";
import { nameFolders } from "./roots.ts";
import { listFiles } from "./run-rg.ts";

const USUAL_TOKENS = 2000;
const MOST_TOKENS = 50_000;
/** Characters for each token of source code. It is low, so that the map is seldom cut again. */
const CHARS_A_TOKEN = 2.4;
const MAX_FILES = 5000;

/** `repo_map`: the definitions that most other code refers to. */
export function repoMapTool(place: ToolPlace): BoundedTool {
  return boundedTool(
    {
      name: "repo_map",
      description: "Maps source code: the most used definitions with their lines, file by file.",
      inputSchema: {
        type: "object",
        properties: {
          path: { type: "string", description: `a folder, ${nameFolders(place.roots)}` },
          max_tokens: { type: "integer", default: USUAL_TOKENS },
        },
      },
    },
    async (args, signal) => {
      const paths = await place.roots.findAll(args.text("path"));
      const maxTokens = args.count("max_tokens", USUAL_TOKENS, MOST_TOKENS);
      const [{ isKnownFile, loadNameReader }, { rankDefinitions }, { drawMap }] = await Promise.all([
        import("../../drivers/repo-map/read-names.ts"),
        import("../../drivers/repo-map/rank-definitions.ts"),
        import("../../drivers/repo-map/rank-definitions.ts"),
      ]);
      const { files: listed } = await listFiles(place.roots, { paths }, signal);
      const known = listed.filter(isKnownFile).toSorted();
      const reader = await loadNameReader();
      const files = [];
      for (const path of known.slice(0, MAX_FILES)) {
        signal?.throwIfAborted();
        const names = await reader.read(path, place.roots.show(path));
        if (names !== null) files.push(names);
      }
      const ranked = rankDefinitions(files);
      if (ranked.length === 0) return "[no source file in a language that this map knows]";
      const note = (map: { shown: number; files: number }) =>
        `[${map.shown} of ${ranked.length} definitions, in ${map.files} of ${known.length} files]`;
      const room = maxTokens * CHARS_A_TOKEN - note({ shown: ranked.length, files: known.length }).length - 1;
      const map = drawMap(ranked, room);
      const output = [map.text, note(map)].filter((part) => part !== "").join("\n");
      const limits = { maxTokens };
      return (await place.spillway.admit({ tool: "repo_map", session: place.session, output, limits })).text;
    },
  );
}
