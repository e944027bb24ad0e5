import { z } from "zod";
import { ROLES } from "./callers.ts";
import type { Route } from "./route.ts";

/** Writes the OpenAPI document of a table of routes. */
export function openApi(routes: readonly Route[], version: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    (paths[route.path] ??= {})[route.method.toLowerCase()] = operationOf(route);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Spillway",
      version,
      description: "What happened to tool outputs and requests, and the outputs themselves.",
    },
    paths,
    components: {
      securitySchemes: {
        token: {
          type: "http",
          scheme: "bearer",
          description: `A token has a role: ${ROLES.join(", ")}. Each may do what those before it may.`,
        },
      },
    },
  };
}

function operationOf({ path, role, summary, query, body, answers }: Route): object {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  return {
    summary,
    ...(role !== null && { security: [{ token: [] }], "x-role": role }),
    parameters: [...inPath, ...(query === undefined ? [] : parametersOf(query))],
    ...(body !== undefined && {
      requestBody: { required: true, content: { "application/json": { schema: schemaOf(body, "input") } } },
    }),
    responses: {
      ...answerOf(answers),
      default: {
        description: "an error",
        content: { "application/json": { schema: schemaOf(errorShape, "output") } },
      },
    },
  };
}

const errorShape = z.strictObject({ error: z.strictObject({ code: z.string(), message: z.string() }) });

function answerOf(answers: Route["answers"]): object {
  if (typeof answers === "string") return { 200: { description: "the answer", content: { [answers]: {} } } };
  if (answers instanceof z.ZodNull) return { 204: { description: "done" } };
  const schema = schemaOf(answers, "output");
  return { 200: { description: "the answer", content: { "application/json": { schema } } } };
}

function parametersOf(query: z.ZodObject): object[] {
  const { properties = {}, required = [] } = schemaOf(query, "input") as {
    properties?: Record<string, { description?: string }>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    required: required.includes(name),
    ...(description !== undefined && { description }),
    schema,
  }));
}

function schemaOf(shape: z.ZodType, io: "input" | "output"): object {
  const { $schema: _schema, ...schema } = z.toJSONSchema(shape, { io, unrepresentable: "any" });
  return schema;
}
