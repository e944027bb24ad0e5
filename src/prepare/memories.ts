import type { Ledger } from "../contract/ledger.ts";
import type { WireLong } from "../contract/wire.ts";
import type { Breaker } from "../deadline.ts";
import { within } from "../deadline.ts";
import { STEP } from "../stages/prune/prune-item.ts";
import { jsonOf, setNewest, tried } from "../values.ts";
import type { Conversation, Item } from "./conversation.ts";
import { type Form, formTexts, type SavedResult } from "./form.ts";
import type { Seal } from "./ports.ts";
import { digestText } from "./preparation.ts";

/** What the ledger keeps of a form. */
interface StoredForm {
  /** Which of the conversation's results it stands for, a hash of that result's digest, and its length. */
  number: number;
  /** It stands for the media outside results of the message that is the `number`th to have some. */
  isMedia?: true;
  /** It stands for the long strings of the `number`th call that has some. */
  isCall?: true;
  check: string;
  chars: number;
  step: number;
  /** A placeholder as it is; anything that holds words of the result as JSON, sealed with the result's digest. */
  texts: string[] | string;
  mediaText?: string;
  kept: SavedResult | null;
}

/** A stored form with what was made of it. */
interface Projected extends StoredForm {
  form: Form | null;
}

/** Forms that were made at one point of a conversation. */
interface ShownStep {
  point: string;
  forms: Projected[];
}

/** A message of a summary's place: one of those it stands for, by its number, or one of its own. */
export type HeadMessage = number | object;

/** A summary that stands for the first messages of a conversation. */
interface StoredSummary {
  point: string;
  /** How many messages, prompts not counted, and a hash of the digest of what they say. */
  spoken: number;
  check: string;
  /** JSON, sealed with that digest. */
  head: string;
}

/** What sending a conversation's requests to one model has shown. Sizes of ours are estimates by one counter. */
export interface Learned {
  model: string | null;
  counter: string;
  windowTokens?: number;
  /** The smallest request that was answered: its messages by our estimate, all of it by the provider's count. */
  answered?: { tokens: number; inputTokens: number };
}

/** What memory holds of one conversation. */
export interface Memory {
  key: string;
  /** In the order in which they were made or read. */
  steps: ShownStep[];
  chars: number;
  summaries: (StoredSummary & { made: readonly HeadMessage[] | null })[];
  learned: Learned[];
  /** Rows of the ledger that are known. */
  rows: number;
  loading: Promise<boolean> | null;
  /** When its last request was prepared here. */
  lastMs: number | null;
}

/** The session and the point of the request in which something was made. */
interface MadeIn {
  session: string | null;
  point: string;
}

/** Where memories are kept and what bounds them. */
export interface MemoriesOptions {
  ledger: Ledger | null;
  breaker: Breaker;
  deadlineMs: number;
  sha256: (text: string) => string;
  seal: Seal;
  weigh: (texts: readonly string[], long?: WireLong) => Form["weight"];
  maxConversations: number;
  maxChars: number;
}

/** A row of the ledger holds a step's forms, at most about this much of them. */
const ROW_CHARS = 1_000_000;
/** A conversation with more steps than this is not pruned in large ones. */
const MAX_ROWS = 10_000;
/** The newest of a conversation's summaries, and what was learned of its models. */
const MAX_SUMMARIES = 16;
const MAX_LEARNED = 16;

/** A row of the ledger: one of these. */
interface Row {
  point?: string;
  forms?: StoredForm[];
  summary?: StoredSummary;
  learned?: Learned;
}

/**
 * What is known of conversations: the forms in which results were shown, summaries, and sizes that were learned. It is in
 * memory, and in the ledger so that a restart changes nothing. Forms and summaries belong to the point of the conversation
 * at which they were made, and are shown again in requests that have come through that point.
 */
export class Memories {
  readonly #options: MemoriesOptions;
  readonly #memories = new Map<string, Memory>();

  constructor(options: MemoriesOptions) {
    this.#options = options;
  }

  /** What is known under a key; the ledger is asked once. */
  async of(key: string): Promise<Memory> {
    const memory = this.#memories.get(key) ?? newMemory(key);
    setNewest(this.#memories, key, memory, this.#options.maxConversations);
    if (this.#options.ledger !== null && !(await (memory.loading ??= this.#load(memory)))) memory.loading = null;
    return memory;
  }

  /** Gives the results of a conversation their forms, as far as it has come. */
  give({ steps }: Memory, conversation: Conversation): void {
    for (const step of steps) {
      if (conversation.passed.has(step) || !conversation.turns.passed(step.point)) continue;
      conversation.passed.add(step);
      for (const projected of step.forms) {
        const { isMedia, isCall, number } = projected;
        const item = (isMedia ? conversation.media : isCall ? conversation.calls : conversation.items)[number];
        const form = item === undefined ? null : this.#formOf(projected, item);
        if (item !== undefined && form !== null) conversation.give(item, form);
      }
    }
  }

  /** Keeps the forms in which items are about to be shown. False if only memory has them. */
  async save(
    memory: Memory,
    { session, point }: MadeIn,
    conversation: Conversation,
    items: readonly Item[],
  ): Promise<boolean> {
    let isKept = true;
    for (const row of this.#rowsOf(point, items)) {
      conversation.passed.add(row);
      // A file is read for one request. What is known of it would take more than all else.
      if (!conversation.isStored) this.#remember(memory, row);
      const stored = row.forms.map(({ form: _form, ...one }) => one);
      isKept &&= await this.#write(memory, session, { point, forms: stored });
    }
    return isKept;
  }

  *#rowsOf(point: string, items: readonly Item[]): Generator<ShownStep> {
    let row: ShownStep = { point, forms: [] };
    let room = ROW_CHARS;
    for (const item of items) {
      const projected = this.#project(item);
      if (projected === null) continue;
      const chars = projected.form?.weight.chars ?? 0;
      if (room < chars && row.forms.length > 0) {
        yield row;
        row = { point, forms: [] };
        room = ROW_CHARS;
      }
      room -= chars;
      row.forms.push(projected);
    }
    if (row.forms.length > 0) yield row;
  }

  /** The summary that stands for the most messages of this conversation, and how many those are. */
  summaryOf(memories: readonly Memory[], conversation: Conversation): { covered: number; head: HeadMessage[] } | null {
    const summaries = memories.flatMap(({ summaries: each }) => each).toSorted((a, b) => b.spoken - a.spoken);
    for (const summary of summaries) {
      const covered = conversation.turns.passed(summary.point) ? conversation.endOf(summary.spoken) : null;
      const digest = covered === null ? null : conversation.digestOf(covered);
      if (covered === null || digest === null || this.#check(digest) !== summary.check) continue;
      summary.made ??= this.#openHead(summary.head, digest);
      if (summary.made !== null) return { covered, head: [...summary.made] };
    }
    return null;
  }

  async saveSummary(
    memory: Memory,
    { session, point }: MadeIn,
    conversation: Conversation,
    { covered, head }: { covered: number; head: readonly HeadMessage[] },
  ): Promise<boolean> {
    const digest = conversation.digestOf(covered);
    if (digest === null) return true;
    const about = {
      point,
      spoken: conversation.spokenIn(covered),
      check: this.#check(digest),
    };
    addNewest(memory.summaries, { ...about, head: "", made: head }, MAX_SUMMARIES);
    // An instance of a class would come back as another sort of message.
    const text = head.every(isPlain) ? jsonOf(head) : null;
    if (text === null) return true;
    return this.#write(memory, session, { summary: { ...about, head: this.#options.seal.close(digest, text) } });
  }

  /** What was learned of a model: the newest window, and answered requests, those of the conversation itself first. */
  learnedOf(memories: readonly Memory[], { model, counter }: Pick<Learned, "model" | "counter">) {
    const known = memories
      .toReversed()
      .flatMap(({ learned }) => learned.filter((one) => one.model === model && one.counter === counter));
    return {
      windowTokens: known.find(({ windowTokens }) => windowTokens !== undefined)?.windowTokens ?? null,
      answered: known.flatMap(({ answered }) => answered ?? []),
    };
  }

  /** Keeps what is news. */
  async learn(memory: Memory, session: string | null, learned: Learned): Promise<boolean> {
    return !this.#learn(memory, learned) || this.#write(memory, session, { learned });
  }

  #learn(memory: Memory, { model, counter, windowTokens, answered }: Learned): boolean {
    const before = memory.learned.find((one) => one.model === model && one.counter === counter);
    const isWindow = windowTokens !== undefined && windowTokens !== before?.windowTokens;
    const isAnswer = answered !== undefined && answered.inputTokens < (before?.answered?.inputTokens ?? Infinity);
    if (!isWindow && !isAnswer) return false;
    const now = { model, counter, ...before, ...(isWindow && { windowTokens }), ...(isAnswer && { answered }) };
    memory.learned = memory.learned.filter((one) => one !== before);
    addNewest(memory.learned, now, MAX_LEARNED);
    return true;
  }

  #project(item: Item): Projected | null {
    const { form, number, read } = item;
    if (form === null) return null;
    const { step, texts, mediaText, kept } = form;
    const digest = this.#digest(item);
    // It is seldom asked for again, and takes more than the numbers of a result.
    read.sha256 = null;
    // What stays of a call's strings is not known to be a placeholder.
    const isPlaceholder = step === STEP.cleared && !item.isCall;
    const stored = isPlaceholder ? texts : this.#options.seal.close(digest, JSON.stringify(texts));
    const about = { number, check: this.#check(digest), chars: read.texts.chars, step, texts: stored, kept, form };
    const kind = { ...(item.isCall && { isCall: true as const }), ...(item.isMedia && { isMedia: true as const }) };
    return { ...about, ...kind, ...(mediaText !== undefined && { mediaText }) };
  }

  /** The form, if it is this item's: a host may have put other content in its place. */
  #formOf(projected: Projected, item: Item): Form | null {
    if (projected.chars !== item.read.texts.chars) return null;
    const digest = this.#digest(item);
    if (projected.check !== this.#check(digest)) return null;
    projected.form ??= this.#open(projected, digest, item);
    return projected.form;
  }

  #open({ step, texts: stored, mediaText, kept }: StoredForm, digest: string, item: Item): Form | null {
    try {
      const { seal, weigh } = this.#options;
      const texts = typeof stored === "string" ? (JSON.parse(seal.open(digest, stored)) as string[]) : stored;
      const said = { texts, ...(mediaText !== undefined && { mediaText }) };
      return { step, ...said, kept, weight: weigh(formTexts(said, item.result.media), item.made?.long) };
    } catch {
      return null; // a damaged row
    }
  }

  #openHead(sealed: string, digest: string): HeadMessage[] | null {
    // Null for a damaged row.
    return tried(() => JSON.parse(this.#options.seal.open(digest, sealed)) as HeadMessage[]);
  }

  #digest(item: Item): string {
    item.read.sha256 ??= this.#options.sha256(digestText(item));
    return item.read.sha256;
  }

  /** By which a result is known again in the ledger: the digest itself opens what is sealed. */
  #check(digest: string): string {
    return this.#options.sha256(digest);
  }

  /** Over its room, memory first lets go of what is longer than a placeholder, the oldest first. */
  #remember(memory: Memory, step: ShownStep): void {
    memory.steps.push(step);
    memory.chars += charsOf(step);
    for (const least of [STEP.cleared, Number.POSITIVE_INFINITY]) {
      for (const old of memory.steps) {
        if (memory.chars <= this.#options.maxChars || old === step) break;
        memory.chars -= charsOf(old);
        old.forms = old.forms.filter((form) => form.step >= least);
        memory.chars += charsOf(old);
      }
    }
  }

  #load(memory: Memory): Promise<boolean> {
    return this.#attempt(async (ledger, wait) => {
      for (; memory.rows < MAX_ROWS; memory.rows++) {
        const row = await wait(ledger.projection(rowKey(memory, memory.rows)));
        if (row === null) break;
        const { point, forms, summary, learned } = readRow(row.text);
        if (point !== undefined && forms !== undefined)
          this.#remember(memory, { point, forms: forms.map((stored) => ({ ...stored, form: null })) });
        if (summary !== undefined) addNewest(memory.summaries, { ...summary, made: null }, MAX_SUMMARIES);
        if (learned !== undefined) this.#learn(memory, learned);
      }
    });
  }

  /** Another process may have written a row of this number: then ours is the next. */
  #write(memory: Memory, session: string | null, content: Row): Promise<boolean> {
    return this.#attempt(async (ledger, wait) => {
      const text = JSON.stringify(content);
      let row = memory.rows;
      for (; row < MAX_ROWS; row++) {
        await wait(ledger.saveProjection({ key: rowKey(memory, row), text, step: 1, session }));
        const written = await wait(ledger.projection(rowKey(memory, row)));
        if (written === null || written.text === text) break;
      }
      memory.rows = Math.max(memory.rows, row + 1);
    });
  }

  async #attempt(
    act: (ledger: Ledger, wait: <T>(promise: Promise<T>) => Promise<T>) => Promise<void>,
  ): Promise<boolean> {
    const { ledger, breaker, deadlineMs } = this.#options;
    if (ledger === null || !breaker.allows()) return false;
    try {
      await act(ledger, (promise) => within(promise, deadlineMs, "the ledger"));
      breaker.succeeded();
      return true;
    } catch {
      breaker.failed();
      return false;
    }
  }
}

function newMemory(key: string): Memory {
  return { key, steps: [], chars: 0, summaries: [], learned: [], rows: 0, loading: null, lastMs: null };
}

function addNewest<T>(list: T[], one: T, most: number): void {
  list.push(one);
  if (list.length > most) list.shift();
}

function isPlain(message: HeadMessage): boolean {
  if (typeof message === "number") return true;
  const prototype: unknown = Object.getPrototypeOf(message);
  return prototype === Object.prototype || prototype === null;
}

function charsOf({ forms }: ShownStep): number {
  return forms.reduce((sum, { texts }) => sum + (typeof texts === "string" ? texts.length : texts.join("").length), 0);
}

function rowKey({ key }: Memory, row: number): string {
  return `pruned:${key}:${row}`;
}

/** Empty for what is no row of ours. */
function readRow(text: string): Row {
  try {
    const { point, forms, summary, learned } = JSON.parse(text) as Row;
    return {
      ...(typeof point === "string" && Array.isArray(forms) && { point, forms }),
      ...(typeof summary?.spoken === "number" && { summary }),
      ...(typeof learned?.counter === "string" && { learned }),
    };
  } catch {
    return {};
  }
}
