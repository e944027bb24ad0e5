import { clampText, type Receipt } from "../../src/stages.ts";
import type { Line } from "./api.ts";
import { LINE_BYTES } from "./line-bytes.ts";

// Holds a text and clamps it, with the stages that the server has too. Nothing of it leaves the browser.

/** What may be asked. */
export type Ask =
  | { id: number; load: string | File }
  | { id: number; clamp: { limits: Record<string, number>; strategy: string; tool: string } }
  | { id: number; lines: [from: number, to: number] };

/** What comes back. */
export type Told =
  | { id: number; lineCount: number; bytes: number }
  | { id: number; text: string; receipt: Receipt; ms: number }
  | { id: number; lines: Line[] }
  | { id: number; fault: string };

let text = "";
/** Where each line begins. */
let starts = new Float64Array(1);

async function load(given: string | File): Promise<{ lineCount: number; bytes: number }> {
  text = typeof given === "string" ? given : await given.text();
  let found = new Float64Array(1024);
  let count = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at + 1 < text.length; at = text.indexOf("\n", at + 1)) {
    if (count === found.length) {
      const larger = new Float64Array(count * 2);
      larger.set(found);
      found = larger;
    }
    found[count] = at + 1;
    count += 1;
  }
  starts = found.slice(0, count);
  return { lineCount: text === "" ? 0 : count, bytes: typeof given === "string" ? new Blob([given]).size : given.size };
}

function linesFrom(from: number, to: number): Line[] {
  const all: Line[] = [];
  for (let line = from; line <= Math.min(to, starts.length); line++) {
    const start = starts[line - 1] ?? 0;
    const end = starts[line] ?? text.length + (text.endsWith("\n") ? 0 : 1);
    const whole = text.slice(start, Math.min(end - 1, start + LINE_BYTES));
    all.push({ line, text: whole.replace(/\r$/, ""), omittedBytes: Math.max(0, end - 1 - start - LINE_BYTES) });
  }
  return all;
}

function clamp({ limits, strategy, tool }: Extract<Ask, { clamp: unknown }>["clamp"]) {
  const startedMs = performance.now();
  const { text: shown, receipt } = clampText(text, limits, {
    strategy: strategy as "auto",
    tool,
    fold: true,
    explain: true,
  });
  return { text: shown, receipt, ms: performance.now() - startedMs };
}

self.addEventListener("message", async ({ data: asked }: MessageEvent<Ask>) => {
  const tell = (told: Told) => self.postMessage(told, {});
  try {
    if ("load" in asked) tell({ id: asked.id, ...(await load(asked.load)) });
    else if ("lines" in asked) tell({ id: asked.id, lines: linesFrom(...asked.lines) });
    else tell({ id: asked.id, ...clamp(asked.clamp) });
  } catch (error) {
    tell({ id: asked.id, fault: error instanceof Error ? error.message : String(error) });
  }
});
