// Compiles src/stages/fold/pass-lines.wat into pass-lines-binary.ts. Run after changing the .wat: `node scripts/compile-pass-lines.mjs`.
import { readFile, writeFile } from "node:fs/promises";
import wabt from "wabt";

const source = new URL("../src/stages/fold/pass-lines.wat", import.meta.url);
const target = new URL("../src/stages/fold/pass-lines-binary.ts", import.meta.url);

/** The text of pass-lines-binary.ts for the present pass-lines.wat. */
export async function compilePassLines() {
  const { parseWat } = await wabt();
  const module = parseWat("pass-lines.wat", await readFile(source, "utf8"), { simd: true, multi_value: true });
  const { buffer } = module.toBinary({});
  const base64 = Buffer.from(buffer).toString("base64");
  return `// Made by scripts/compile-pass-lines.mjs from pass-lines.wat.\nexport const PASS_LINES_BINARY =\n  "${base64}";\n`;
}

if (process.argv[1] === new URL(import.meta.url).pathname) await writeFile(target, await compilePassLines());
