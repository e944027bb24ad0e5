import type { Ledger } from "../contract/ledger.ts";
import { within } from "../deadline.ts";
import { STEP } from "../stages/prune/prune-item.ts";
import type { Breaker } from "../stages/spill/breaker.ts";
import type { Conversation, Item } from "./conversation.ts";
import type { Form, SavedResult } from "./form.ts";
import type { Seal } from "./ports.ts";
import { textOf } from "./preparation.ts";

/** What the ledger keeps of a form. */
interface StoredForm {
  /** Which of the conversation's results it stands for, a hash of that result's digest, and its length. */
  number: number;
  check: string;
  chars: number;
  step: number;
  /** A placeholder as it is; anything that holds words of the result as JSON, sealed with the result's digest. */
  texts: string[] | string;
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

/** What memory holds of one conversation. */
export interface Memory {
  /** In the order in which they were made or read. */
  steps: ShownStep[];
  chars: number;
  /** Rows of the ledger that are known. */
  rows: number;
  loading: Promise<boolean> | null;
  /** When its last request was prepared here. */
  lastMs: number | null;
}

/** Where projections are kept and what bounds them. */
export interface ProjectionsOptions {
  ledger: Ledger | null;
  breaker: Breaker;
  deadlineMs: number;
  sha256: (text: string) => string;
  seal: Seal;
  weigh: (texts: readonly string[]) => Form["weight"];
  maxConversations: number;
  maxChars: number;
}

/** A row of the ledger holds a step's forms, at most about this much of them. */
const ROW_CHARS = 1_000_000;
/** A conversation with more steps than this is not pruned in large ones. */
const MAX_ROWS = 10_000;

/**
 * The forms in which results were shown: in memory, and in the ledger so that a restart changes nothing. A form belongs to
 * the point of the conversation at which it was made, and is shown again in requests that have come through that point.
 */
export class Projections {
  readonly #options: ProjectionsOptions;
  readonly #memories = new Map<string, Memory>();

  constructor(options: ProjectionsOptions) {
    this.#options = options;
  }

  /** What is known of a conversation; the ledger is asked once. */
  async of(key: string): Promise<Memory> {
    const memory = this.#memories.get(key) ?? { steps: [], chars: 0, rows: 0, loading: null, lastMs: null };
    // Set anew, so that the first in the map is the one not used longest.
    this.#memories.delete(key);
    this.#memories.set(key, memory);
    for (const oldest of this.#memories.keys()) {
      if (this.#memories.size <= this.#options.maxConversations) break;
      this.#memories.delete(oldest);
    }
    if (this.#options.ledger !== null && !(await (memory.loading ??= this.#load(key, memory)))) memory.loading = null;
    return memory;
  }

  /** Gives the results of a conversation their forms, as far as it has come. */
  give({ steps }: Memory, conversation: Conversation): void {
    for (const step of steps) {
      if (conversation.passed.has(step) || !conversation.turns.passed(step.point)) continue;
      conversation.passed.add(step);
      for (const projected of step.forms) {
        const item = conversation.items[projected.number];
        const form = item === undefined ? null : this.#formOf(projected, item);
        if (item !== undefined && form !== null) conversation.give(item, form);
      }
    }
  }

  /** Keeps the forms in which items are about to be shown. False if only memory has them. */
  async save(
    key: string,
    session: string | null,
    conversation: Conversation,
    items: readonly Item[],
  ): Promise<boolean> {
    const memory = await this.of(key);
    const rows: ShownStep[] = [];
    let room = 0;
    for (const item of items) {
      const { form, number, read } = item;
      if (form === null) continue;
      const { step, texts, kept, weight } = form;
      const digest = this.#digest(item);
      const isPlain = step === STEP.cleared;
      const stored = isPlain ? texts : this.#options.seal.close(digest, JSON.stringify(texts));
      if (room < weight.chars) rows.push({ point: conversation.turns.last, forms: [] });
      room = (room < weight.chars ? ROW_CHARS : room) - weight.chars;
      const check = this.#check(digest);
      rows.at(-1)?.forms.push({ number, check, chars: read.texts.chars, step, texts: stored, kept, form });
    }
    for (const row of rows) {
      conversation.passed.add(row);
      this.#remember(memory, row);
    }
    for (const row of rows) if (!(await this.#write(key, memory, session, row))) return false;
    return true;
  }

  /** The form, if it is this item's: a host may have put other content in its place. */
  #formOf(projected: Projected, item: Item): Form | null {
    if (projected.chars !== item.read.texts.chars) return null;
    const digest = this.#digest(item);
    if (projected.check !== this.#check(digest)) return null;
    projected.form ??= this.#open(projected, digest);
    return projected.form;
  }

  #open({ step, texts: stored, kept }: StoredForm, digest: string): Form | null {
    try {
      const { seal, weigh } = this.#options;
      const texts = typeof stored === "string" ? (JSON.parse(seal.open(digest, stored)) as string[]) : stored;
      return { step, texts, kept, weight: weigh(texts) };
    } catch {
      return null; // a damaged row
    }
  }

  #digest(item: Item): string {
    item.read.sha256 ??= this.#options.sha256(textOf(item));
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

  #load(key: string, memory: Memory): Promise<boolean> {
    return this.#attempt(async (ledger, wait) => {
      for (; memory.rows < MAX_ROWS; memory.rows++) {
        const row = await wait(ledger.projection(rowKey(key, memory.rows)));
        if (row === null) break;
        const step = readRow(row.text);
        if (step !== null) this.#remember(memory, step);
      }
    });
  }

  /** Another process may have written a row of this number: then ours is the next. */
  #write(key: string, memory: Memory, session: string | null, { point, forms }: ShownStep): Promise<boolean> {
    return this.#attempt(async (ledger, wait) => {
      const text = JSON.stringify({ point, forms: forms.map(({ form: _form, ...stored }) => stored) });
      let row = memory.rows;
      for (; row < MAX_ROWS; row++) {
        await wait(ledger.saveProjection({ key: rowKey(key, row), text, step: 1, session }));
        const written = await wait(ledger.projection(rowKey(key, row)));
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

function charsOf({ forms }: ShownStep): number {
  return forms.reduce((sum, { texts }) => sum + (typeof texts === "string" ? texts.length : texts.join("").length), 0);
}

function rowKey(key: string, row: number): string {
  return `pruned:${key}:${row}`;
}

/** Null for what is no row of ours. */
function readRow(text: string): ShownStep | null {
  try {
    const { point, forms } = JSON.parse(text) as { point?: unknown; forms?: unknown };
    if (typeof point !== "string" || !Array.isArray(forms)) return null;
    return { point, forms: (forms as StoredForm[]).map((stored) => ({ ...stored, form: null })) };
  } catch {
    return null;
  }
}
