#!/usr/bin/env node
import { join } from "node:path";
import { keepCompiled } from "./keep-compiled.ts";

keepCompiled(join(import.meta.dirname, "cli"));
void import("./main.ts").then(({ main }) => main());
