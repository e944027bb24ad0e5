export type { Wire, WireCall, WireEdit, WireMessage, WireResult, WireRole } from "../contract/wire.ts";
export { missingMessages, type PairedResult, pairResults } from "./pair-results.ts";
export { detectWire, type RequestMessages, readRequest, wireNamed, wires } from "./registry.ts";
