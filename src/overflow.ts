// Whether size is why a model's provider refused: no store, no Node. Anything added here is public API: named exports only.
export type { Signature, SignatureInput, Verdict, VerdictContext, VerdictKind } from "./contract/verdict.ts";
export { type ClassifyOptions, classify } from "./stages/recover/classify.ts";
export { compileSignatures, type Rule } from "./stages/recover/compile-signatures.ts";
export { classifyResponse } from "./stages/recover/peek-response.ts";
