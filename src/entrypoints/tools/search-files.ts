import { stat } from "node:fs/promises";
import { relative } from "node:path";
import { type BoundedTool, boundedTool, type ToolPlace } from "./bounded-tool.ts";
import { runRg } from "./run-rg.ts";

const USUAL_MATCHES = 100;
const USUAL_CONTEXT = 2;
const MOST = 10_000;
const MAX_TEXT_CHARS = 400;

interface Match {
  type: string;
  data: { path?: { text?: string }; lines?: { text?: string; bytes?: string }; line_number?: number };
}

/** `search_files`, also called `grep_search`: finds a pattern in files. */
export function searchFilesTool(place: ToolPlace, name: "search_files" | "grep_search"): BoundedTool {
  const { options } = place.spillway.resolve(name);
  const usualMax = options.maxMatches ?? USUAL_MATCHES;
  const usualContext = options.showContext ?? USUAL_CONTEXT;
  return boundedTool(
    {
      name,
      description:
        "Finds a regular expression in files, without those that .gitignore names. Says how many matching lines there are in all.",
      inputSchema: {
        type: "object",
        properties: {
          pattern: { type: "string" },
          path: { type: "string", description: "a folder or a file" },
          glob: { type: "string", description: "only files that this matches, such as *.ts" },
          literal: { type: "boolean" },
          ignore_case: { type: "boolean" },
          show_context: { type: "integer", default: usualContext },
          max_results: { type: "integer", default: usualMax },
        },
        required: ["pattern"],
      },
    },
    async (args, signal) => {
      const path = await place.roots.find(args.text("path") ?? ".");
      const status = await stat(path);
      // ripgrep skips pipes and devices in a folder. If one is named, it reads it, which may never end.
      if (!status.isFile() && !status.isDirectory()) throw new Error("this is no plain file, so it is not searched");
      const context = args.count("show_context", usualContext, MOST);
      const most = args.count("max_results", usualMax, MOST);
      const glob = args.text("glob");
      const flags = [
        "--json",
        "--hidden",
        "--glob=!.git",
        "--sort=path",
        `--context=${context}`,
        ...(glob === undefined ? [] : [`--glob=${glob}`]),
        ...(args.flag("literal") ? ["--fixed-strings"] : []),
        ...(args.flag("ignore_case") ? ["--ignore-case"] : []),
        `--regexp=${args.requiredText("pattern")}`,
        "--",
        path,
      ];
      const [folder = path] = place.roots.folders;
      const found = newFound(folder, most, context);
      await runRg(flags, folder, signal, (line) => found.add(JSON.parse(line) as Match));
      const { text } = await place.spillway.admit({ tool: name, session: place.session, output: found.text() });
      return text;
    },
  );
}

/** Takes what ripgrep found and keeps the first matches with the lines around them. */
function newFound(folder: string, most: number, context: number) {
  const rows: string[] = [];
  let total = 0;
  let file = "";
  let lastLine = 0;
  let lastShown = 0;
  return {
    add({ type, data }: Match): void {
      if (type === "begin") {
        file = relative(folder, data.path?.text ?? "") || (data.path?.text ?? "");
        lastLine = 0;
        lastShown = 0;
      }
      if (type !== "match" && type !== "context") return;
      const line = data.line_number ?? 0;
      if (type === "match") total++;
      // The lines after the last match that is shown belong to it.
      const isShown =
        type === "match" ? total <= most : total < most || (total === most && line - lastShown <= context);
      if (!isShown) return;
      if (type === "match") lastShown = line;
      if (lastLine !== 0 && line > lastLine + 1) rows.push("--");
      lastLine = line;
      const mark = type === "match" ? ":" : "-";
      rows.push(`${file}${mark}${line}${mark}${shorten(data.lines?.text ?? "[bytes that are no text]")}`);
    },
    text(): string {
      if (total === 0) return "[no line matches]";
      const note =
        total > most
          ? [`[showing first ${most} of ${total} matches]`]
          : [`[${total} ${total === 1 ? "match" : "matches"}]`];
      return [...rows, ...note].join("\n");
    },
  };
}

function shorten(text: string): string {
  const line = text.replace(/\r?\n$/, "");
  return line.length > MAX_TEXT_CHARS ? `${line.slice(0, MAX_TEXT_CHARS).toWellFormed()}[...]` : line;
}
