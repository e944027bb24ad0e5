// Compiles src/stages/clamp/signal/quiet-lines.wat into quiet-lines-binary.ts. Run after changing the .wat: `node scripts/compile-quiet-lines.mjs`.
import { readFile, writeFile } from "node:fs/promises";
import wabt from "wabt";

const source = new URL("../src/stages/clamp/signal/quiet-lines.wat", import.meta.url);
const target = new URL("../src/stages/clamp/signal/quiet-lines-binary.ts", import.meta.url);

/** The text of quiet-lines-binary.ts for the present quiet-lines.wat. */
export async function compileQuietLines() {
  const { parseWat } = await wabt();
  const module = parseWat("quiet-lines.wat", await readFile(source, "utf8"), { simd: true, multi_value: true });
  const { buffer } = module.toBinary({});
  const base64 = Buffer.from(buffer).toString("base64");
  return `// Made by scripts/compile-quiet-lines.mjs from quiet-lines.wat.\nexport const QUIET_LINES_BINARY =\n  "${base64}";\n`;
}

if (process.argv[1] === new URL(import.meta.url).pathname) await writeFile(target, await compileQuietLines());
