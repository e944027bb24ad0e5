export type { Wire, WireCall, WireEdit, WireMessage, WireResult, WireRole } from "../contract/wire.ts";
export { missingMessages, type PairedResult, pairResults } from "./pair-results.ts";
export { detectWire, wireNamed, wires } from "./registry.ts";
export { type RequestMessages, readRequest } from "./request-messages.ts";
