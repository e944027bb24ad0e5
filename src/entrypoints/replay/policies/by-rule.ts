import type { WireRole } from "../../../contract/wire.ts";
import { pairResults } from "../../../wire/index.ts";
import type { Rendered } from "../render.ts";
import type { Pruner, ReplayInput, ReplayPolicy } from "./policy.ts";

/** A result as a rule sees it. */
export interface RuleResult {
  message: number;
  tool: string;
  /** The text that is shown now. */
  text: string;
  isChanged: boolean;
}

/** A request as a rule sees it. */
export interface RuleRequest {
  /** The results in order, without those that hold no text or may not be changed. */
  results: readonly RuleResult[];
  roles: readonly WireRole[];
  /** All that is sent, as shown now. */
  tokens: number;
  chars: number;
}

/** A result's new text. */
export interface RuleEdit {
  result: RuleResult;
  text: string;
}

/** A rule that looks at a request and says what to change. */
export interface Rule extends Omit<ReplayPolicy, "start"> {
  /** True if a changed result stays changed. Otherwise the rule sees every request as it was recorded. */
  sticky: boolean;
  plan(request: RuleRequest): RuleEdit[];
}

interface Item extends RuleResult {
  at: string;
  whole: string;
}

/** A policy that follows a rule. */
export function byRule({ sticky, plan, ...about }: Rule): ReplayPolicy {
  return { ...about, start: async (parts) => startRule(parts, sticky, plan) };
}

function startRule({ recorded, renderer, rendered }: ReplayInput, sticky: boolean, plan: Rule["plan"]): Pruner {
  const { wire, messages } = recorded;
  const roles = rendered.map(({ view }) => view.role);
  const items = itemsOf(rendered);
  const shown: unknown[] = [...messages];
  const written = new Map<number, Map<string, unknown>>();

  const write = (message: number) => {
    const changed = items.filter((item) => item.message === message && item.isChanged);
    const key = JSON.stringify(changed.map(({ at, text }) => [at, text]));
    const forms = written.get(message) ?? new Map<string, unknown>();
    written.set(message, forms);
    if (changed.length === 0) shown[message] = messages[message];
    else {
      // The same text gives the same object, so that it is rendered once.
      const edits = changed.map(({ at, text }) => ({ at, texts: [text] }));
      const form = forms.get(key) ?? wire.write(messages[message], edits);
      forms.set(key, form);
      shown[message] = form;
    }
  };

  return async (end) => {
    const results = items.filter(({ message }) => message < end);
    const before = new Map(results.map((item) => [item, item.text]));
    if (!sticky) {
      for (const item of results) Object.assign(item, { text: item.whole, isChanged: false });
    }
    let tokens = 0;
    let chars = 0;
    for (let index = 0; index < end; index++) {
      const one = renderer.render(sticky ? shown[index] : messages[index]);
      tokens += one.tokens;
      chars += one.text.length;
    }
    for (const { result, text } of plan({ results, roles: roles.slice(0, end), tokens, chars })) {
      Object.assign(result, { text, isChanged: true });
    }
    for (const message of new Set(
      results.filter((item) => before.get(item) !== item.text).map(({ message }) => message),
    )) {
      write(message);
    }
    return shown.slice(0, end);
  };
}

function itemsOf(rendered: readonly Rendered[]): Item[] {
  const paired = pairResults(rendered.map(({ view }) => view));
  const places = new Map<number, number>();
  return paired.flatMap(({ message, result, tool }) => {
    const place = places.get(message) ?? 0;
    places.set(message, place + 1);
    const text = rendered[message]?.results[place] ?? "";
    if (result.fixed || text === "") return [];
    return { message, tool, text, isChanged: false, at: result.at, whole: text };
  });
}

/** Tokens as many agents estimate them. */
export function quarterOf(text: string): number {
  return Math.round(text.length / 4);
}
