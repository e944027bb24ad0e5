// Compiles src/stages/clamp/json/skim.wat into skim-binary.ts. Run after changing the .wat: `node scripts/compile-skim.mjs`.
import { readFile, writeFile } from "node:fs/promises";
import wabt from "wabt";

const source = new URL("../src/stages/clamp/json/skim.wat", import.meta.url);
const target = new URL("../src/stages/clamp/json/skim-binary.ts", import.meta.url);

/** The text of skim-binary.ts for the present skim.wat. */
export async function compileSkim() {
  const { parseWat } = await wabt();
  const module = parseWat("skim.wat", await readFile(source, "utf8"), { simd: true, multi_value: false });
  const { buffer } = module.toBinary({});
  const base64 = Buffer.from(buffer).toString("base64");
  return `// Made by scripts/compile-skim.mjs from skim.wat.\nexport const SKIM_BINARY =\n  "${base64}";\n`;
}

if (process.argv[1] === new URL(import.meta.url).pathname) await writeFile(target, await compileSkim());
