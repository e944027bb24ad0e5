import type { Spillway, SpillwayOptions } from "../../../spillway.ts";
import type { Recorded } from "../recorded.ts";
import type { Rendered, Renderer } from "../render.ts";

/** Makes a Spillway that uses the given clock, and keeps what it holds back in memory or not at all. */
export type MakeSpillway = (
  parts: Pick<SpillwayOptions, "reader"> & { keeps: boolean; now: () => number },
) => Promise<Spillway>;

/** What a policy may work with. */
export interface ReplayInput {
  recorded: Recorded;
  renderer: Renderer;
  /** The whole conversation, message by message. */
  rendered: readonly Rendered[];
  windowTokens: number;
  /** How long the provider keeps a prompt cache. */
  cacheTtlMs: number;
  makeSpillway: MakeSpillway;
}

/** Gives a request's messages as they would be sent: those before `end`. Called for each request in order. */
export type Pruner = (end: number, atMs: number | null) => Promise<readonly unknown[]>;

/** A way to lighten requests. */
export interface ReplayPolicy {
  name: string;
  /** The rule, in a sentence or two. */
  rule: string;
  /** Where it is published. */
  source: string;
  start(parts: ReplayInput): Promise<Pruner>;
}
