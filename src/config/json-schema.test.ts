import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { writeJsonSchema } from "./json-schema.ts";
import { configSchema } from "./schema.ts";
import { knownKeys, schemaUnder } from "./validate-config.ts";

it("the committed JSON Schema is the one this source gives (node scripts/write-schema.mjs)", async () => {
  expect(await readFile("schema/spillway.schema.json", "utf8")).toBe(writeJsonSchema());
});

it("knows both spellings and allows no other keys in our own sections", () => {
  const { properties, additionalProperties, definitions } = JSON.parse(writeJsonSchema());
  expect(additionalProperties).toBe(false);
  expect(Object.keys(properties)).toEqual(expect.arrayContaining(["tool_output_limits", "toolOutputLimits", "agent"]));
  expect(definitions.toolRow.additionalProperties).toBe(false);
  expect(definitions.toolRow.properties.max_lines).toEqual(definitions.toolRow.properties.maxLines);
  expect(definitions.toolRow.properties.head_share).toMatchObject({ type: "number", minimum: 0, maximum: 1 });
});

it("the page about configuration names every key", async () => {
  const page = await readFile("docs/guide/configuration.md", "utf8");
  const missing: string[] = [];
  const walk = (schema: Parameters<typeof knownKeys>[0]) => {
    for (const key of knownKeys(schema) ?? []) {
      const under = schemaUnder(schema, key);
      if (!/[A-Z$]/.test(key) && !page.includes(`\`${key}\``)) missing.push(key);
      if (under) walk(schemaUnder(under, "any") && !knownKeys(under) ? (schemaUnder(under, "any") ?? under) : under);
    }
  };
  walk(configSchema);
  expect([...new Set(missing)]).toEqual([]);
});
