// Compiles src/stages/redact/heads.wat into heads-binary.ts. Run after changing the .wat: `node scripts/compile-heads.mjs`.
import { readFile, writeFile } from "node:fs/promises";
import wabt from "wabt";

const source = new URL("../src/stages/redact/heads.wat", import.meta.url);
const target = new URL("../src/stages/redact/heads-binary.ts", import.meta.url);

/** The text of heads-binary.ts for the present heads.wat. */
export async function compileHeads() {
  const { parseWat } = await wabt();
  const module = parseWat("heads.wat", await readFile(source, "utf8"), { simd: true, multi_value: false });
  const { buffer } = module.toBinary({});
  const base64 = Buffer.from(buffer).toString("base64");
  return `// Made by scripts/compile-heads.mjs from heads.wat.\nexport const HEADS_BINARY =\n  "${base64}";\n`;
}

if (process.argv[1] === new URL(import.meta.url).pathname) await writeFile(target, await compileHeads());
