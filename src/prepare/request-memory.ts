import type { Wire } from "../contract/wire.ts";
import { STEP } from "../stages/prune/prune-item.ts";
import { type Conversation, type Item, isSpoken } from "./conversation.ts";
import { formTexts, type MessageChange } from "./form.ts";
import type { HeadMessage, Learned, Memories, Memory } from "./memories.ts";
import type { MessageReader } from "./read-message.ts";

/** Names the request of which something is kept. */
export interface RequestAbout {
  wire: Wire;
  session: string | null;
  model: string | null;
  counter: string;
}

/** What was sent in place of a conversation's first messages. */
interface Start {
  /** How many of the given messages it stands for. */
  covered: number;
  messages: readonly unknown[];
}

/** What is known of the conversation of one request, and what sending it shows. */
export class RequestMemory {
  readonly wire: Wire;
  readonly #memories: Memories;
  /** What was kept before the first call, and the conversation's own. */
  readonly #known: readonly Memory[];
  readonly #conversation: Conversation;
  readonly #reader: MessageReader;
  readonly #about: RequestAbout;
  readonly #point: string;
  #covered = 0;
  #head = 0;

  constructor(
    memories: Memories,
    known: readonly Memory[],
    conversation: Conversation,
    reader: MessageReader,
    about: RequestAbout,
  ) {
    this.wire = about.wire;
    this.#memories = memories;
    this.#known = known;
    this.#conversation = conversation;
    this.#reader = reader;
    this.#about = about;
    this.#point = conversation.turns.last;
  }

  get own(): Memory {
    return this.#known.at(-1) as Memory;
  }

  /** Gives the results of the conversation the forms in which they were shown. */
  give(): void {
    for (const memory of this.#known) this.#memories.give(memory, this.#conversation);
  }

  /** Puts the summary that was made of the conversation's start in its place. */
  cover(): void {
    const conversation = this.#conversation;
    const summary = this.#memories.summaryOf(this.#known, conversation);
    conversation.covered = summary?.covered ?? 0;
    const start = conversation.messages.slice(0, conversation.covered);
    const spoken = start.filter(({ view }) => isSpoken(view));
    const own = (summary?.head ?? []).flatMap((one) => {
      return typeof one === "number" ? (spoken[one] ?? []) : this.#reader.read(this.wire, one);
    });
    conversation.head = [...start.filter(({ view }) => !isSpoken(view)), ...own];
    this.#covered = conversation.covered;
    this.#head = conversation.head.length;
  }

  /** How many of the given messages the first ones of the request stand for, and how many those are. */
  get start(): { covered: number; head: number } {
    return { covered: this.#covered, head: this.#head };
  }

  /** By what a message of the request differs from the given one. */
  changeOf(index: number): MessageChange {
    return this.#conversation.changeOf(index);
  }

  get learned(): { windowTokens: number | null; answered: NonNullable<Learned["answered"]>[] } {
    return this.#memories.learnedOf(this.#known, this.#about);
  }

  async learn(found: Pick<Learned, "windowTokens" | "answered">): Promise<void> {
    const { session, model, counter } = this.#about;
    await this.#memories.learn(this.own, session, { model, counter, ...found });
  }

  /** Keeps what a provider accepted: changes of given messages, and what stood for the first of them. */
  async accept(changes: ReadonlyMap<number, MessageChange>, start: Start): Promise<void> {
    const { session } = this.#about;
    const items: Item[] = [];
    for (const [index, change] of changes) items.push(...this.#show(index, change));
    await this.#memories.save(this.own, { session, point: this.#point }, this.#conversation, items);
    const { covered, messages } = start;
    if (covered === 0 || covered === this.#covered) return;
    const given = this.#conversation.messages.slice(0, covered).filter(({ view }) => isSpoken(view));
    const head = messages.flatMap((message): HeadMessage[] => {
      const number = given.findIndex(({ source }) => source === message);
      if (number !== -1) return [number];
      return isSpoken(this.wire.read(message)) ? [message as object] : [];
    });
    await this.#memories.saveSummary(this.own, { session, point: this.#point }, this.#conversation, { covered, head });
  }

  #show(index: number, { edits, mediaText }: MessageChange): Item[] {
    const conversation = this.#conversation;
    const shown: Item[] = [];
    for (const item of conversation.prunable.filter(({ message }) => message === index)) {
      const outside = mediaText === null ? undefined : { texts: [], mediaText };
      const edit = item.isMedia ? outside : edits.find(({ at }) => at === item.result.at);
      if (edit === undefined) continue;
      const texts = edit.texts ?? item.form?.texts ?? item.result.texts;
      if ((item.isMedia || texts === item.form?.texts) && edit.mediaText === item.form?.mediaText) continue;
      const media = edit.mediaText === undefined ? {} : { mediaText: edit.mediaText };
      const weight = this.#reader.weigh(formTexts({ texts, ...media }, item.result.media), item.made?.long);
      const form = { step: STEP.clamped, texts, ...media, kept: item.form?.kept ?? null, weight };
      conversation.give(item, form);
      conversation.show(item, form);
      shown.push(item);
    }
    return shown;
  }
}
