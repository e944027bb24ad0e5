import * as z from "zod/mini";
import { configSchema, descriptions } from "./schema.ts";

/** The JSON Schema for editors, as text; schema/spillway.schema.json holds it (`node scripts/write-schema.mjs`). */
export function writeJsonSchema(): string {
  const generated = z.toJSONSchema(configSchema, { target: "draft-7", reused: "inline", metadata: descriptions });
  return `${JSON.stringify({ ...generated, title: "spillway.yaml" }, null, 2)}\n`;
}
