// Writes schema/spillway.schema.json from the schema that checks config files.
import { writeFile } from "node:fs/promises";
import { build } from "esbuild";

const { outputFiles } = await build({
  entryPoints: ["src/config/json-schema.ts"],
  bundle: true,
  write: false,
  format: "esm",
  platform: "node",
});
const [bundle] = outputFiles;
const { writeJsonSchema } = await import(
  `data:text/javascript;base64,${Buffer.from(bundle.contents).toString("base64")}`
);
await writeFile("schema/spillway.schema.json", writeJsonSchema());
