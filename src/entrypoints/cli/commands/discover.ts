import { join } from "node:path";
import { createInterface } from "node:readline";
import type { PolicyInput } from "../../../contract/policy.ts";
import type { Artifact } from "../../../contract/store.ts";
import { badInput } from "../../../errors.ts";
import { createSpillway } from "../../../index.ts";
import { savedMade } from "../../../recall/open-artifact.ts";
import { compileFocus } from "../../../stages/clamp/focus/compile-focus.ts";
import { FailureNames } from "../../../stages/clamp/signal/hidden.ts";
import { templateOf } from "../../../stages/clamp/since.ts";
import { counted, tried } from "../../../values.ts";
import type { Command } from "../command.ts";
import { addPolicyFlags, optionsFromFlags, type PolicyFlags, wholeNumber } from "../flags.ts";
import { describeChange, planChange, writeChange } from "../init/change-file.ts";
import { addPlaceFlag, type PlaceFlags, type ReadPlace, readArtifact, readPlace } from "../open-place.ts";
import { addScreenFlags, harmless, onScreen, type Paints, type ScreenFlags } from "../screen.ts";
import { tell } from "../tell.ts";
import { writeError, writeJson, writeOut } from "../write-out.ts";

interface DiscoverFlags extends PolicyFlags, PlaceFlags, ScreenFlags {
  tool?: string;
  least?: number;
  accept?: string;
  file?: string;
  json?: boolean;
}

type List = "keep" | "focus" | "drop";

/** A pattern for a row, why it is proposed, and what it would change on the outputs that are saved. */
interface Proposal {
  tool: string;
  list: List;
  pattern: string;
  because: string;
  outputs: number;
  chars: { before: number; after: number };
  /** Lines that the pattern finds and a model sees. */
  lines: { before: number; after: number };
}

/** `spillway discover`: proposes which lines a policy should keep. */
export function addDiscoverCommand(program: Command): void {
  const command = program
    .command("discover")
    .description("propose focus, keep and drop patterns from saved outputs, and what was looked for in them");
  addScreenFlags(addPlaceFlag(addPolicyFlags(command)))
    .option("--tool <name>", "only for this tool")
    .option("--least <n>", "how often something has to be seen (default 2)", wholeNumber("--least"))
    .option("--accept <numbers>", "write these proposals, as 1,3 or all, without asking")
    .option("--file <path>", "the config to write to (default: spillway.yaml in this folder)")
    .option("--json", "print one JSON object, { proposals }")
    .notes(`
focus: patterns that were searched for. keep: sorts of lines that were read back, and those that a summary counts and a cut does
not show. drop: sorts of lines that take much of what is shown and that nobody looked for. A project's file may not have
drop: name your own file with --file.
Each proposal is tried on the newest saved outputs of its tool. On a terminal you are asked about each one.

Examples:
  spillway discover
  spillway discover --tool run_command --json | jq .proposals
  spillway discover --accept 1,3`)
    .action((flags: DiscoverFlags) =>
      readPlace(flags, async (place) => {
        // A pager would read the answers: it has ended before the first question.
        const proposals = await onScreen(flags, ({ paints }) => propose(place, flags, paints));
        const accepted = await accept(proposals, flags);
        if (accepted.length > 0) await write(accepted, flags.file ?? join(process.cwd(), "spillway.yaml"));
      }),
    );
}

/** So much is looked at: outputs of each tool, bytes of one, events, and proposals of a tool. */
const MOST_OUTPUTS = 20;
const MOST_BYTES = 4 * 1024 * 1024;
const MOST_EVENTS = 5000;
const MOST_PROPOSALS = 5;

/** Finds proposals and writes them out. */
async function propose(place: ReadPlace, flags: DiscoverFlags, { bold, dim }: Paints): Promise<Proposal[]> {
  const { policy = {} } = await optionsFromFlags(flags, { warn: () => {} });
  const tools = new Map<string, SavedOutput[]>();
  for (const artifact of await place.store.list({ scope: place.scope, max: 500 })) {
    const tool = artifact.tool ?? "run_command";
    const outputs = tools.get(tool) ?? [];
    if ((flags.tool ?? tool) !== tool || outputs.length === MOST_OUTPUTS || artifact.bytes > MOST_BYTES) continue;
    const output = await readText(place, artifact);
    tools.set(tool, [...outputs, { artifact, output, shown: await cut(policy, tool, artifact, output) }]);
  }
  const proposals: Proposal[] = [];
  for (const [tool, outputs] of tools) {
    const found = [...(await lookedFor(place, outputs)), ...behindCounts(outputs), ...noise(outputs)];
    const likely = found.filter(({ count }) => count >= (flags.least ?? 2)).sort((a, b) => b.count - a.count);
    const kinds = [...new Map(likely.map((one) => [`${one.list} ${one.pattern}`, one])).values()];
    for (const { list, pattern, because } of kinds.slice(0, MOST_PROPOSALS)) {
      const tested = await tryOut(policy, tool, { list, pattern }, outputs);
      if (tested.lines.after === tested.lines.before) continue;
      proposals.push({ tool, list, pattern, because, outputs: outputs.length, ...tested });
    }
  }
  if (flags.json) await writeJson({ proposals });
  else if (proposals.length === 0) await writeOut("Nothing to propose from what is saved here.\n");
  else {
    for (const [index, { tool, list, pattern, because, outputs, chars, lines }] of proposals.entries()) {
      await writeOut(
        `${bold(`${index + 1}. tools.${tool}.${list}: ${harmless(JSON.stringify(pattern))}`)}\n   ${because}\n   ${dim(
          `on ${counted(outputs, "output")}: ${counted(lines.before, "such line")} shown, ${lines.after} with it; ` +
            `${chars.before.toLocaleString("en")} characters, ${chars.after.toLocaleString("en")} with it`,
        )}\n`,
      );
    }
  }
  return proposals;
}

interface SavedOutput {
  artifact: Artifact;
  output: string;
  /** What a model sees of it now. */
  shown: string;
}

/** Something that was found, and how often. */
interface Found {
  list: List;
  pattern: string;
  because: string;
  count: number;
}

async function readText(place: ReadPlace, { id, bytes }: Artifact): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of readArtifact(place, id, { from: 0, to: bytes })) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** What a model would see of a saved output. */
async function cut(
  policy: PolicyInput,
  tool: string,
  { command, exitCode }: Artifact,
  output: string,
): Promise<string> {
  const spillway = await createSpillway({ store: null, ledger: null, policy, env: {}, redact: "off" });
  const call = { tool, output, ...savedMade(command), ...(exitCode !== null && { exitCode }) };
  return (await spillway.admit(call)).text;
}

/** Patterns that were searched for, and sorts of lines that were read back. */
async function lookedFor({ ledger }: ReadPlace, outputs: readonly SavedOutput[]): Promise<Found[]> {
  const found: Found[] = [];
  const add = (list: List, pattern: string, because: (count: number) => string) => {
    const known = found.find((one) => one.list === list && one.pattern === pattern);
    const count = (known?.count ?? 0) + 1;
    if (known === undefined) found.push({ list, pattern, because: because(1), count });
    else Object.assign(known, { count, because: because(count) });
  };
  const byId = new Map(outputs.map((one) => [one.artifact.id, one]));
  const kinds = ["artifact-searched" as const, "artifact-recalled" as const];
  for (const { artifact, more } of await ledger.events({ kinds, max: MOST_EVENTS, order: "newest" })) {
    const read = byId.get(artifact ?? "");
    if (read === undefined) continue;
    const { pattern, literal, lines } = more ?? {};
    if (typeof pattern === "string") {
      const text = literal === true ? pattern : `/${pattern}/`;
      // What cannot be a pattern of a row cannot be proposed, nor one of which a secret was replaced.
      if (!pattern.includes("[redacted:") && tried(() => compileFocus(text)) !== null)
        add("focus", text, (count) => `searched for ${counted(count, "time")}`);
    } else if (Array.isArray(lines)) {
      const [from = 1, to = 0] = lines as number[];
      const texts = read.output.split("\n").slice(from - 1, Math.min(to, from + 199));
      const hidden = texts.filter((line) => !read.shown.includes(line)).flatMap((line) => sortOf(line) ?? []);
      for (const sort of new Set(hidden)) add("keep", sort, (count) => `read back ${counted(count, "time")}`);
    }
  }
  return found;
}

/** Lines that a summary counts and a cut does not show. */
function behindCounts(outputs: readonly SavedOutput[]): Found[] {
  const counts = new Map<string, number>();
  for (const { output, shown } of outputs) {
    const names = new FailureNames();
    const line = (text: string) => ({ row: 0, bytes: Buffer.from(text) });
    for (const text of output.split("\n")) names.see(Buffer.from(text));
    const pattern = names.missingIn(shown.split("\n").map(line), [])?.hidden.pattern;
    if (pattern !== undefined) counts.set(pattern, (counts.get(pattern) ?? 0) + 1);
  }
  return [...counts].map(([pattern, count]) => ({
    list: "keep",
    pattern: `/${pattern}/`,
    because: `${counted(count, "output")} count more of these than are shown`,
    count,
  }));
}

/** A sort of lines that takes this share of what is shown in so many outputs is noise, unless it tells of trouble. */
const NOISE_SHARE = 0.15;
const NOISE_OUTPUTS = 3;
const TROUBLE = /error|fail|fatal|warn|exception|denied|refused|not found/i;

/** Sorts of lines that take much of what is shown, output after output. */
function noise(outputs: readonly SavedOutput[]): Found[] {
  const counts = new Map<string, number>();
  for (const { shown } of outputs) {
    const chars = new Map<string, number>();
    for (const line of shown.split("\n")) {
      const sort = TROUBLE.test(line) || line.startsWith("[") ? null : sortOf(line);
      if (sort !== null) chars.set(sort, (chars.get(sort) ?? 0) + line.length);
    }
    for (const [sort, taken] of chars)
      if (taken >= shown.length * NOISE_SHARE) counts.set(sort, (counts.get(sort) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count >= NOISE_OUTPUTS)
    .map(([pattern, count]) => ({
      list: "drop",
      pattern,
      because: `takes a sixth or more of what is shown in ${counted(count, "output")}`,
      count,
    }));
}

const LEAST_SORT_CHARS = 8;

/** The longest text that all lines of a sort have; null if it is too short to tell them from others. */
function sortOf(line: string): string | null {
  const parts = templateOf(line).split("#");
  const longest = parts.reduce((best, part) => (part.trim().length > best.length ? part.trim() : best), "");
  return longest.length < LEAST_SORT_CHARS ? null : longest;
}

/** What a pattern would change on saved outputs. */
async function tryOut(
  policy: PolicyInput,
  tool: string,
  { list, pattern }: Pick<Proposal, "list" | "pattern">,
  outputs: readonly SavedOutput[],
): Promise<Pick<Proposal, "chars" | "lines">> {
  const { find } = compileFocus(pattern.startsWith("/") ? pattern : JSON.stringify(pattern));
  const count = (text: string) => text.split("\n").filter((line) => find(Buffer.from(line)) !== 0).length;
  const row = { [list]: [...(policy.default?.[list] ?? []), pattern] };
  const wider = { ...policy, default: { ...policy.default, ...row } };
  const sum = { chars: { before: 0, after: 0 }, lines: { before: 0, after: 0 } };
  for (const { artifact, output, shown } of outputs) {
    const after = await cut(wider, tool, artifact, output);
    sum.chars.before += shown.length;
    sum.chars.after += after.length;
    sum.lines.before += count(shown);
    sum.lines.after += count(after);
  }
  return sum;
}

/** The proposals that a person accepts: by a flag, or asked one by one on a terminal. */
async function accept(proposals: readonly Proposal[], { accept: said, json }: DiscoverFlags): Promise<Proposal[]> {
  if (said === "all") return [...proposals];
  if (said !== undefined) {
    return said.split(",").map((number) => {
      const one = /^\d+$/.test(number.trim()) ? proposals[Number(number) - 1] : undefined;
      if (one === undefined)
        throw badInput(
          proposals.length === 0
            ? "--accept: nothing is proposed"
            : `--accept takes all, or numbers from 1 to ${proposals.length}; got "${number}"`,
        );
      return one;
    });
  }
  if (json || !process.stdin.isTTY) return [];
  // Lines are read one by one, so that answers which come before their question are not lost. The end of input says no.
  const terminal = createInterface({ input: process.stdin });
  const lines = terminal[Symbol.asyncIterator]();
  const accepted: Proposal[] = [];
  for (const [index, one] of proposals.entries()) {
    writeError(`Write ${index + 1}? [y/N] `);
    const { value, done } = await lines.next();
    if (done) break;
    if (/^y(es)?$/i.test(value.trim())) accepted.push(one);
  }
  terminal.close();
  return accepted;
}

/** Writes patterns into a config, whose other settings and comments stay. */
async function write(accepted: readonly Proposal[], path: string): Promise<void> {
  const { parseDocument } = await import("yaml");
  const change = planChange(path, "user", (text) => {
    const document = parseDocument(text);
    if (document.errors.length > 0) throw new Error(document.errors[0]?.message);
    for (const { tool, list, pattern } of accepted) {
      const place = ["tools", tool, list];
      const known = document.getIn(place);
      if (known === undefined) document.setIn(place, [pattern]);
      else if (!JSON.stringify(known).includes(JSON.stringify(pattern))) document.addIn(place, pattern);
    }
    return document.toString();
  });
  if (change === null) return tell(`${path} has them already`);
  await writeOut(describeChange(change));
  writeChange(change, false);
  tell(`${path} is written; "spillway config show" says what holds now`);
}
