// Compiles the .wat files and puts each binary into the file that runs it. Run after changing one: `node scripts/compile-wat.mjs`.
import { readFile, writeFile } from "node:fs/promises";
import wabt from "wabt";

const stages = new URL("../src/stages/", import.meta.url);

/** The binary of `<path>.wat` as base64, of a path such as measure/scan. */
export async function compileWat(path) {
  const { parseWat } = await wabt();
  const source = await readFile(new URL(`${path}.wat`, stages), "utf8");
  const { buffer } = parseWat(`${path}.wat`, source, { simd: true, multi_value: false }).toBinary({});
  return Buffer.from(buffer).toString("base64");
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  for (const [path, user] of [
    ["measure/scan", "measure/scan.ts"],
    ["redact/heads", "redact/find-heads.ts"],
  ]) {
    const file = new URL(user, stages);
    const binary = await compileWat(path);
    const text = await readFile(file, "utf8");
    await writeFile(
      file,
      text.replace(/(_BINARY =\s+")[^"]*/, (_found, before) => before + binary),
    );
  }
}
