import { nearestName } from "../errors.ts";
import type { Environment } from "../stages/policy/policy-from-environment.ts";
import { printable } from "./config-fault.ts";

const PREFIX = "SPILLWAY_";
/** Every variable of ours, without that. */
const KNOWN = new Set([
  "CONFIG",
  "DIR",
  "HEAD_SHARE",
  "MAX_BYTES",
  "MAX_CHARS",
  "MAX_LINES",
  "MAX_TOKENS",
  "OFF",
  "PROFILE",
  "STRATEGY",
  "SUMMARY_ENDPOINT",
  "SUMMARY_KEY",
  "SUMMARY_MODEL",
  "SUMMARY_SPEAKS",
]);

/** What to say of variables that nobody reads and that look much like one of ours. Others may be somebody else's. */
export function mistypedVariables(env: Environment): string[] {
  return Object.keys(env).flatMap((variable) => {
    const name = variable.slice(PREFIX.length);
    if (!variable.startsWith(PREFIX) || KNOWN.has(name)) return [];
    const near = nearestName(name, KNOWN);
    return near === undefined ? [] : [`${printable(variable)} is ignored; did you mean ${PREFIX}${near}?`];
  });
}
