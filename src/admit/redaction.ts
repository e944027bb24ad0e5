import { badInput } from "../errors.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { mayHoldSecret } from "../stages/record/events.ts";
import type { RedactionRule, RuleInput } from "../stages/redact/redaction-rule.ts";
import type { SpillPlace, StartRedactor } from "../stages/spill/spill.ts";
import { tried } from "../values.ts";
import type { SourceAccount } from "./admission.ts";
import type { ModelView } from "./model-view.ts";
import { addRedactions } from "./receipts.ts";

/**
 * Where secrets are replaced: "off" nowhere, "on" in what is stored and logged, "model" also in what the model reads.
 * `rules` stand beside the well-known ones; `model: true` is "model" with them.
 */
export type Redact = "off" | "on" | "model" | { rules: readonly RuleInput[]; model?: boolean | undefined };

/** What replaces secrets, each part loaded on first use. */
export interface Redaction {
  /** In what is stored. */
  loadRedactor(): Promise<StartRedactor>;
  /** The same for those who cannot wait; null if it is not loaded yet. */
  loadedRedactor(): StartRedactor | null;
  /** In a short text that is logged. */
  loadText(): Promise<(text: string) => string>;
  /** In what the model reads; null shows it as it came. */
  loadView: (() => Promise<ModelView>) | null;
  /** Returns false for a text that holds no secret for certain: a short plain word, or a short text that was looked at before. */
  mayHoldSecret(text: string): boolean;
}

/** Returns null if nothing is replaced. A wrong rule throws only when the rules are loaded. */
export function redactionOf(redact: Redact = "on"): Redaction | null {
  if (redact === "off") return null;
  const own = typeof redact === "object" ? redact.rules : [];
  const isModel = redact === "model" || (typeof redact === "object" && redact.model === true);
  let rules: Promise<readonly RedactionRule[]> | null = null;
  const load = () => (rules ??= loadRules(own));
  let view: Promise<ModelView> | null = null;
  const loadView = () => {
    view ??= Promise.all([import("./model-view.ts"), load()]).then(([{ modelView }, loaded]) => modelView(loaded));
    return view;
  };
  let redactor: StartRedactor | null = null;
  /** Names of models and tools and the words of events come again with each request. */
  const harmless = new Set<string>();
  // With rules of one's own any text may hold a secret.
  const may = (text: string) => mayHoldSecret(text, own.length > 0) && !harmless.has(text);
  return {
    async loadRedactor() {
      if (redactor !== null) return redactor;
      const [{ startRedact }, loaded] = await Promise.all([import("../stages/redact/redact.ts"), load()]);
      return (redactor = (take) => startRedact(loaded, take));
    },
    loadedRedactor: () => redactor,
    async loadText() {
      const { source } = await loadView();
      return (text) => {
        if (!may(text)) return text;
        const redacted = source().readText(text);
        if (harmless.size >= MAX_NAMES) harmless.clear();
        if (redacted === text && text.length <= MAX_NAME_CHARS) harmless.add(text);
        return redacted;
      };
    },
    loadView: isModel ? loadView : null,
    mayHoldSecret: may,
  };
}

/** What replaces secrets. Throws if what is said about it is wrong, rules included: that should show before the first output. */
export async function openRedaction(redact: Redact | undefined, preload = false): Promise<Redaction | null> {
  const hasRules = typeof redact === "object" && Array.isArray(redact?.rules);
  if (!hasRules && redact !== undefined && !["off", "on", "model"].includes(redact as string)) {
    throw badInput(`redact must be "off", "on", "model" or { rules, model }; got ${String(redact)}`);
  }
  const redaction = redactionOf(redact);
  if (preload || hasRules) await redaction?.loadRedactor();
  return redaction;
}

async function loadRules(own: readonly RuleInput[]): Promise<readonly RedactionRule[]> {
  const [{ defaultRules }, { compileRules }] = await Promise.all([
    import("../stages/redact/default-rules.ts"),
    import("../stages/redact/compile-rules.ts"),
  ]);
  return own.length === 0 ? defaultRules : [...defaultRules, ...compileRules(own)];
}

/** A place for an output whose secrets were replaced already; `again` where what is stored has more in it than was looked at. */
export function redactedPlace(place: SpillPlace, source: SourceAccount | undefined, again = false): SpillPlace {
  const { loadRedactor } = place;
  if (source === undefined || loadRedactor === null) return place;
  return {
    ...place,
    async loadRedactor() {
      const start: StartRedactor | null = again ? await loadRedactor() : null;
      return (take) => {
        const more = start?.(take) ?? { add: take, end: () => ({ count: 0, bytes: 0 }) };
        return { add: (bytes) => more.add(bytes), end: () => addRedactions(source.redactions, more.end()) };
      };
    },
  };
}

/** Names remembered; agents have fewer. Longer texts are not remembered. */
const MAX_NAMES = 1000;
const MAX_NAME_CHARS = 100;

/** A tool's name as it may be stored and logged: nearly always itself, and then nothing is loaded. */
export function safeNames(redaction: Redaction | null): (name: string) => string | Promise<string> {
  return (name) => (redaction?.mayHoldSecret(name) ? redacted(name, redaction) : name);

  async function redacted(name: string, { loadText }: Redaction): Promise<string> {
    // A name that cannot be redacted is not told.
    return loadText().then(
      (redact) => redact(name),
      () => "tool",
    );
  }
}

/** What made an output, as a caller says it. */
interface Made {
  command?: string | undefined;
  args?: unknown;
  folder?: string | undefined;
}

/** The command, or the arguments as JSON, and the folder as they may be stored and logged: without secrets, and short. */
export async function safeMade(
  redaction: Redaction | null,
  { command, args, folder }: Made,
): Promise<{ command: string | null; folder: string | null }> {
  const made = command || (args === undefined ? null : tried(() => JSON.stringify(args)));
  if (!made && !folder) return { command: null, folder: null };
  // What cannot be redacted is not told.
  const redact = redaction === null ? (text: string) => text : await redaction.loadText().catch(() => () => "");
  // Secrets are replaced first, so that no cut leaves half of one.
  const safe = (text: unknown): string | null =>
    typeof text === "string"
      ? redact(text.slice(0, MAX_MADE_CHARS)).slice(0, NUMBERS.aboutChars.default) || null
      : null;
  return { command: safe(made), folder: safe(folder) };
}

/** Only this much of a command or of arguments is read. */
const MAX_MADE_CHARS = 65_536;
