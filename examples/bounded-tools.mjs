// Gives an agent of your own tools that bound their output at the source: here they are called by hand.
import { createSpillway } from "spillway";
import { boundedTools, openRoots } from "spillway/tools";

const spillway = await createSpillway({ reader: { by: "tool", recall: "recall", search: "search" } });
const tools = boundedTools({ spillway, roots: await openRoots(["src"]) });
console.log(`tools: ${tools.map(({ name }) => name).join(", ")}`);

async function call(name, args) {
  const { text } = await tools.find((tool) => tool.name === name).call(args);
  console.log(`\n== ${name}(${JSON.stringify(args)})\n${text}`);
}

await call("search_files", { pattern: "export function", path: "entrypoints", show_context: 0, max_results: 3 });
await call("read_file", { path: "errors.ts", start_line: 1, end_line: 3 });
await call("repo_map", { path: "entrypoints/tools", max_tokens: 200 });
await call("read_file", { path: "../package.json" }); // outside the folder: refused
