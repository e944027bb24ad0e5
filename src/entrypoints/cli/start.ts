#!/usr/bin/env node
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { keepCompiled } from "./keep-compiled.ts";

// While a large output is read, V8 spends a third of the time on compiling our code anew. If it puts fewer functions into one
// another, it spends two thirds of that. The flag stands before all else: kept code is only good under the same flags.
try {
  setFlagsFromString("--max-inlined-bytecode-size-cumulative=300");
} catch {
  // Another engine.
}
keepCompiled(join(import.meta.dirname, "cli"));
void import("./main.ts").then(({ main }) => main());
