import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const DIST = fileURLToPath(new URL("../dist/", import.meta.url));

/** What every clamp here is held to: Spillway's own ceiling, which is also pi's. */
export const LIMITS = { maxBytes: 50 * 1024, maxLines: 2000 };

/** Reads the flags that all scripts share. */
export function readOptions() {
  const { values } = parseArgs({
    options: {
      smoke: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      write: { type: "string" },
      docs: { type: "boolean", default: false },
      mb: { type: "string" },
      text: { type: "string", multiple: true, default: [] },
      cli: { type: "string", default: `${DIST}cli.cjs` },
      stages: { type: "string", default: `${DIST}stages.js` },
      index: { type: "string", default: `${DIST}index.js` },
    },
  });
  const megabytes = Number(values.mb ?? (values.smoke ? 100 : 1000));
  if (!(megabytes >= 1)) {
    throw new Error(`--mb takes a number of megabytes, not "${values.mb}"`);
  }
  for (const part of ["cli", "stages", "index"]) {
    values[part] = resolve(values[part]);
    if (!existsSync(values[part])) {
      throw new Error(`nothing to measure: ${values[part]} is missing (npm run build)`);
    }
  }
  return { ...values, megabytes };
}
