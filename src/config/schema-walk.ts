import type * as z from "zod/mini";
import type { PathStep } from "./config-node.ts";

type Schema = z.core.$ZodType;

/** The parts of a schema's definition that lead further into it. */
interface Definition {
  type: string;
  shape?: Record<string, Schema>;
  catchall?: Schema;
  valueType?: Schema;
  element?: Schema;
  innerType?: Schema;
  options?: Schema[];
}

function definitionOf(schema: Schema): Definition {
  const definition = schema._zod.def as Definition;
  if (definition.type === "optional" && definition.innerType) return definitionOf(definition.innerType);
  // Of several forms only a section leads further.
  return definition.options?.map(definitionOf).find(({ shape }) => shape !== undefined) ?? definition;
}

/** The keys that a section knows; undefined for anything that is not a section. */
export function knownKeys(schema: Schema): string[] | undefined {
  const { shape } = definitionOf(schema);
  return shape && Object.keys(shape);
}

/** Whether keys that are not known are another program's. */
export function isForeign(schema: Schema): boolean {
  const { catchall } = definitionOf(schema);
  return catchall !== undefined && definitionOf(catchall).type !== "never";
}

/** The schema of what stands under a key or an index. */
export function schemaUnder(schema: Schema, step: PathStep): Schema | undefined {
  const { shape, valueType, element } = definitionOf(schema);
  if (shape) return Object.hasOwn(shape, step) ? shape[step] : undefined;
  return valueType ?? element;
}

/** The schema at a path. */
export function schemaAt(schema: Schema, path: readonly PathStep[]): Schema | undefined {
  return path.reduce<Schema | undefined>((here, step) => here && schemaUnder(here, step), schema);
}
