// Compiles src/stages/measure/scan.wat into scan-binary.ts. Run after changing the .wat: `node scripts/compile-scan.mjs`.
import { readFile, writeFile } from "node:fs/promises";
import wabt from "wabt";

const source = new URL("../src/stages/measure/scan.wat", import.meta.url);
const target = new URL("../src/stages/measure/scan-binary.ts", import.meta.url);

/** The text of scan-binary.ts for the present scan.wat. */
export async function compileScan() {
  const { parseWat } = await wabt();
  const module = parseWat("scan.wat", await readFile(source, "utf8"), { simd: true, multi_value: false });
  const { buffer } = module.toBinary({});
  const base64 = Buffer.from(buffer).toString("base64");
  return `// Made by scripts/compile-scan.mjs from scan.wat.\nexport const SCAN_BINARY =\n  "${base64}";\n`;
}

if (process.argv[1] === new URL(import.meta.url).pathname) await writeFile(target, await compileScan());
