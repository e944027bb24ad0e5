import type { Ledger } from "../contract/ledger.ts";
import type { Breaker } from "../stages/spill/breaker.ts";
import { within } from "../stages/spill/within.ts";
import type { Item } from "./conversation.ts";
import type { Form, KeptResult } from "./form.ts";

/** A form with the result it stands for: call id, occurrence and sha256 of what came. */
interface Projected {
  place: string;
  sha256: string;
  chars: number;
  form: Form;
}

/** What memory holds of one conversation. */
export interface Memory {
  /** By place; a place has more than one where a host put other content behind the same id. */
  forms: Map<string, Projected[]>;
  chars: number;
  /** Rows read from the ledger so far. */
  rows: number;
  isLoaded: boolean;
  /** When its last request was prepared here. */
  lastMs: number | null;
}

/** Where projections are kept and what bounds them. */
export interface ProjectionsOptions {
  ledger: Ledger | null;
  breaker: Breaker;
  deadlineMs: number;
  sha256: (text: string) => string;
  weigh: (texts: readonly string[]) => Form["weight"];
  maxConversations: number;
  maxChars: number;
}

/** A row of the ledger holds a step's forms, at most about this much of them. */
const ROW_CHARS = 1_000_000;
/** A conversation with more steps than this is not pruned in large ones. */
const MAX_ROWS = 10_000;

/** The forms in which results were shown: in memory, and in the ledger so that a restart changes nothing. */
export class Projections {
  readonly #options: ProjectionsOptions;
  readonly #memories = new Map<string, Memory>();

  constructor(options: ProjectionsOptions) {
    this.#options = options;
  }

  /** What is known of a conversation; the ledger is asked once. */
  async of(conversation: string): Promise<Memory> {
    const memory = this.#memories.get(conversation) ?? {
      forms: new Map(),
      chars: 0,
      rows: 0,
      isLoaded: this.#options.ledger === null,
      lastMs: null,
    };
    // Set anew, so that the first in the map is the one not used longest.
    this.#memories.delete(conversation);
    this.#memories.set(conversation, memory);
    for (const oldest of this.#memories.keys()) {
      if (this.#memories.size <= this.#options.maxConversations) break;
      this.#memories.delete(oldest);
    }
    if (!memory.isLoaded) await this.#load(conversation, memory);
    return memory;
  }

  /** The form a result was last shown in; null if it was shown whole. */
  find(memory: Memory, item: Item, text: () => string): Form | null {
    const known = memory.forms.get(placeOf(item));
    const fitting = known?.filter(({ chars }) => chars === item.read.texts.chars) ?? [];
    if (fitting.length === 0) return null;
    const sha256 = this.sha256(item, text);
    return fitting.find((one) => one.sha256 === sha256)?.form ?? null;
  }

  sha256(item: Item, text: () => string): string {
    item.read.sha256 ??= this.#options.sha256(text());
    return item.read.sha256;
  }

  /** Keeps forms that are about to be shown. False if only memory has them. */
  async save(
    conversation: string,
    session: string | null,
    shown: readonly { item: Item; text: () => string; form: Form }[],
  ): Promise<boolean> {
    const memory = await this.of(conversation);
    const rows: Projected[][] = [];
    let room = 0;
    for (const { item, text, form } of shown) {
      const { chars } = item.read.texts;
      const projected = { place: placeOf(item), sha256: this.sha256(item, text), chars, form };
      this.#remember(memory, projected);
      if (room < form.weight.chars) rows.push([]);
      room = (room < form.weight.chars ? ROW_CHARS : room) - form.weight.chars;
      rows.at(-1)?.push(projected);
    }
    for (const row of rows) if (!(await this.#write(conversation, memory, session, row))) return false;
    return true;
  }

  #remember(memory: Memory, projected: Projected): void {
    const { place, sha256, form } = projected;
    const others: Projected[] = [];
    for (const one of memory.forms.get(place) ?? []) {
      if (one.sha256 !== sha256) others.push(one);
      else if (one.form.step >= form.step) return;
      else memory.chars -= one.form.weight.chars;
    }
    memory.forms.delete(place);
    memory.forms.set(place, [...others, projected]);
    memory.chars += form.weight.chars;
    for (const [oldest, forms] of memory.forms) {
      if (memory.chars <= this.#options.maxChars || oldest === place) return;
      memory.forms.delete(oldest);
      for (const one of forms) memory.chars -= one.form.weight.chars;
    }
  }

  async #load(conversation: string, memory: Memory): Promise<void> {
    const { weigh } = this.#options;
    await this.#attempt(async (ledger, wait) => {
      for (; memory.rows < MAX_ROWS; memory.rows++) {
        const row = await wait(ledger.projection(rowKey(conversation, memory.rows)));
        if (row === null) break;
        for (const { place, sha256, chars, step, texts, kept } of readRow(row.text)) {
          this.#remember(memory, { place, sha256, chars, form: { step, texts, kept, weight: weigh(texts) } });
        }
      }
      memory.isLoaded = true;
    });
  }

  /** Another process may have written a row of this number: then ours is the next. */
  async #write(conversation: string, memory: Memory, session: string | null, row: Projected[]): Promise<boolean> {
    return this.#attempt(async (ledger, wait) => {
      const text = JSON.stringify(
        row.map(({ place, sha256, chars, form: { step, texts, kept } }) => ({
          place,
          sha256,
          chars,
          step,
          texts,
          kept,
        })),
      );
      for (; memory.rows < MAX_ROWS; memory.rows++) {
        const key = rowKey(conversation, memory.rows);
        await wait(ledger.saveProjection({ key, text, step: 1, session }));
        const written = await wait(ledger.projection(key));
        if (written === null || written.text === text) break;
      }
      memory.rows++;
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

function placeOf({ call, tool, occurrence }: Item): string {
  return JSON.stringify([call ?? `tool ${tool}`, occurrence]);
}

function rowKey(conversation: string, row: number): string {
  return `pruned:${conversation}:${row}`;
}

interface Row {
  place: string;
  sha256: string;
  chars: number;
  step: number;
  texts: string[];
  kept: KeptResult | null;
}

function readRow(text: string): Row[] {
  const rows: unknown = JSON.parse(text);
  if (!Array.isArray(rows)) return [];
  return (rows as Row[]).filter((row) => typeof row?.place === "string" && Array.isArray(row.texts));
}
