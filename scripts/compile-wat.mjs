// Compiles the .wat files into TypeScript that holds their binaries. Run after changing one: `node scripts/compile-wat.mjs`.
import { readFile, writeFile } from "node:fs/promises";
import wabt from "wabt";

const stages = new URL("../src/stages/", import.meta.url);

/** The text of `<path>-binary.ts` for the present `<path>.wat`, of a path such as measure/scan. */
export async function compileWat(path) {
  const name = path.split("/").at(-1);
  const { parseWat } = await wabt();
  const source = await readFile(new URL(`${path}.wat`, stages), "utf8");
  const { buffer } = parseWat(`${name}.wat`, source, { simd: true, multi_value: false }).toBinary({});
  const base64 = Buffer.from(buffer).toString("base64");
  return `// Made by scripts/compile-wat.mjs from ${name}.wat.\nexport const ${name.toUpperCase()}_BINARY =\n  "${base64}";\n`;
}

if (process.argv[1] === new URL(import.meta.url).pathname)
  for (const path of ["measure/scan", "redact/heads"])
    await writeFile(new URL(`${path}-binary.ts`, stages), await compileWat(path));
