import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { apiRoutes } from "../src/entrypoints/serve/api.ts";
import { newMetrics } from "../src/entrypoints/serve/metrics.ts";
import { openApi } from "../src/entrypoints/serve/open-api.ts";
import { createSpillway } from "../src/index.ts";
import { memoryLedger } from "../src/storage/ledgers/memory.ts";
import { memoryStore } from "../src/storage/stores/memory.ts";

const PAGE = "docs/reference/api.md";

interface Operation {
  summary: string;
  "x-role"?: string;
  parameters: { name: string; in: string; required: boolean; description?: string; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { content?: Record<string, unknown> }>;
}
interface Schema {
  type?: string | string[];
  enum?: string[];
  default?: unknown;
  description?: string | undefined;
  properties?: Record<string, Schema>;
}

it("the page has every route, as the OpenAPI document says it (vitest -u writes it)", async () => {
  const spillway = await createSpillway({ store: memoryStore(), ledger: memoryLedger(), env: {} });
  const stopping = new AbortController().signal;
  const routes = apiRoutes({ spillway, policy: {}, version: "", metrics: newMetrics(), stopping });
  const { paths } = openApi(routes, "") as { paths: Record<string, Record<string, Operation>> };
  const sections = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => section(`${method.toUpperCase()} ${path}`, operation)),
  );
  const page = await readFile(PAGE, "utf8");
  const between = /(<!-- routes:start[^>]*-->\n)[^]*?(<!-- routes:end -->)/;
  expect(page).toMatch(between);
  const shown = page.replace(between, (_all, start, end) => `${start}\n${sections.join("\n\n")}\n\n${end}`);
  await expect(shown).toMatchFileSnapshot(`../${PAGE}`);
});

function section(name: string, { summary, "x-role": role, parameters, requestBody, responses }: Operation): string {
  const asked = parameters.filter((parameter) => parameter.in === "query");
  const body = Object.entries(requestBody?.content["application/json"]?.schema.properties ?? {});
  const type = Object.keys(responses["200"]?.content ?? { "no content": {} })[0];
  return [
    `### ${name}`,
    `${summary} Role: ${role ?? "none"}. Answers ${type}.`,
    table(
      "query",
      asked.map(({ name, description, schema }) => [name, { ...schema, description }]),
    ),
    table("body", body),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function table(what: string, fields: (readonly [string, Schema])[]): string {
  if (fields.length === 0) return "";
  const rows = fields.map(([name, { type, enum: words, default: usual, description = "" }]) => {
    const values = words?.join(", ") ?? [type ?? "text"].flat().join(" or ");
    const more = [description, usual === undefined ? "" : `default ${JSON.stringify(usual)}`];
    return `| \`${name}\` | ${values} | ${more.filter((part) => part !== "").join("; ")} |`;
  });
  return [`| ${what} | value | |`, "| --- | --- | --- |", ...rows].join("\n");
}
