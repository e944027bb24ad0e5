import { createRequire } from "node:module";

/** This package's version. */
export const VERSION: string = (createRequire(import.meta.url)("spillway/package.json") as { version: string }).version;
