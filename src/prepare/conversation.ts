import type { Wire, WireCall, WireEdit, WireResult, WireRole } from "../contract/wire.ts";
import { type PruneItem, STEP } from "../stages/prune/prune-item.ts";
import { type FileRead, fileReadBy, supersedes } from "../stages/prune/superseded.ts";
import { add, NO_WEIGHT, subtract, type Weight } from "../stages/prune/weight.ts";
import { isRecord } from "../values.ts";
import { startPairing } from "../wire/pair-results.ts";
import { loaded, StoredMessage } from "../wire/stored-message.ts";
import { type Form, type MessageChange, writeChange } from "./form.ts";
import {
  isSame,
  isUnchanged,
  type ReadCall,
  type ReadMessage,
  type ReadResult,
  readAgain,
  saidIn,
} from "./read-message.ts";
import { Turns } from "./turns.ts";

/** A result in a conversation, the long strings of a call, or a message's media outside results, with the form it is shown in. */
export interface Item extends PruneItem {
  read: ReadResult;
  result: WireResult;
  /** The call whose long strings it is; null for a result. */
  made: ReadCall | null;
  /** Which of the message's results or calls. */
  at: number;
  call: string | null;
  /** The call that it answers, as far as it is known; null for a call itself. */
  answers: Pick<WireCall, "input"> | null;
  /** Which of the conversation's results, of its calls with long strings, or of its messages with media. */
  number: number;
  /** It is the media of a message outside results. */
  isMedia: boolean;
  /** What it is shown in now; null shows the result itself. */
  form: Form | null;
  /** All forms it may be shown in, as far as the conversation has come. */
  forms: Form[];
  /** Looked at for limits already. */
  isInsured: boolean;
}

/** Reads of one file that a later one is compared with. */
const MAX_READS = 64;

/** A conversation as far as it was read; messages are added at its end only. */
export class Conversation {
  readonly messages: ReadMessage[] = [];
  /** All results. */
  readonly items: Item[] = [];
  /** All calls with long strings. */
  readonly calls: Item[] = [];
  /** The media outside results, for each message that has some. */
  readonly media: Item[] = [];
  /** All of them, in order. */
  readonly prunable: Item[] = [];
  readonly assistants: number[] = [];
  firstUser: number | null = null;
  firstCall: WireCall | null = null;
  readonly turns: Turns;
  malformed = 0;
  /** Results whose call does not stand before them. */
  orphans = 0;
  /** A request is being prepared with it. */
  isBusy = false;
  /** How many of both were told. */
  told = 0;
  total: Weight = NO_WEIGHT;
  /** Items that were looked at for limits. */
  lookedAt = 0;
  readonly withForms = new Set<Item>();
  /** Steps whose forms were given to their items. */
  readonly passed = new WeakSet<object>();
  /** How many messages a summary stands for in this request, and that summary. */
  covered = 0;
  head: readonly ReadMessage[] = [];
  /** Messages of which something is shown in another form, with those results, in no order. */
  readonly edited = new Map<number, Item[]>();
  /** Those of them that were written in their latest form. */
  readonly written = new Map<number, unknown>();
  /** What is shown in another form than its own. */
  readonly formed = { results: 0, calls: 0, media: 0 };
  readonly #pairing = startPairing();
  readonly #reads = new Map<string, { item: Item; read: FileRead }[]>();
  readonly #sha256: (text: string) => string;
  /** Digests of what the first messages say, by how many messages that is. */
  readonly #digests = new Map<number, string>();

  constructor(sha256: (text: string) => string) {
    this.turns = new Turns(sha256);
    this.#sha256 = sha256;
  }

  /** Its messages stand in a file. */
  get isStored(): boolean {
    return this.messages.at(-1)?.source instanceof StoredMessage;
  }

  get firstText(): string | null {
    return this.firstUser === null ? null : (this.messages[this.firstUser]?.view.text ?? null);
  }

  /** Returns true if these messages begin with the ones that were read, or with copies of them, which then stand for them. */
  isStartOf(messages: readonly unknown[]): boolean {
    if (this.messages.length > messages.length) return false;
    const copies: [at: number, copy: ReadMessage][] = [];
    for (const [at, read] of this.messages.entries()) {
      const message = messages[at];
      if (isUnchanged(read, message)) continue;
      if (message === read.source || !isRecord(message) || !isSame(read.source, message)) return false;
      copies.push([at, readAgain(read, message)]);
    }
    for (const [at, copy] of copies) this.messages[at] = copy;
    return true;
  }

  add(message: ReadMessage): void {
    const index = this.messages.length;
    const { view } = message;
    this.messages.push(message);
    this.total = add(this.total, message.outside);
    this.malformed += view.malformed;
    if (view.role === "user") this.firstUser ??= index;
    if (view.role === "assistant") this.assistants.push(index);
    this.firstCall ??= view.calls[0] ?? null;
    this.turns.add(view);
    const pairs = this.#pairing.add(view);
    for (const [at, made] of message.calls.entries()) {
      const item = newItem(index, made, { at, tool: made.call.tool, number: this.calls.length, made, answers: null });
      this.#add(item, this.calls);
    }
    for (const [at, { result, tool, call }] of pairs.entries()) {
      const read = message.results[at] as ReadResult;
      const item = newItem(index, read, { at, tool, number: this.items.length, made: null, answers: call });
      if (call === null && result.id !== null) this.orphans++;
      this.#add(item, this.items);
      this.#supersede(item, call);
    }
    if (message.media !== null) this.#addMedia(index, message.media);
  }

  /** Where a format has no images in results, agents send them in a message of the user that follows the results. */
  #addMedia(index: number, read: ReadResult): void {
    const before = this.items.at(-1);
    const follows = before !== undefined && before.message > (this.assistants.at(-1) ?? -1);
    const { tool, answers } = follows ? before : { tool: "media", answers: null };
    const about = { at: 0, tool, number: this.media.length, made: null, answers };
    const item = newItem(index, read, about);
    item.isMedia = true;
    item.heldMedia = { count: read.result.media.count, isUsers: !follows };
    this.#add(item, this.media);
  }

  #add(item: Item, list: Item[]): void {
    if (item.shown.bytes > 0) this.total = add(this.total, item.shown);
    list.push(item);
    this.prunable.push(item);
  }

  /** Results that no assistant has answered yet. */
  newest(): Item[] {
    const last = this.assistants.at(-1) ?? -1;
    const from = this.items.findLastIndex(({ message }) => message <= last) + 1;
    return this.items.slice(from);
  }

  /** Results and calls that no summary stands for. */
  get shownItems(): Item[] {
    return this.covered === 0 ? this.prunable : this.prunable.filter(({ message }) => message >= this.covered);
  }

  /** All messages as they are sent. */
  get shownTotal(): Weight {
    if (this.covered === 0) return this.total;
    const inside = this.head.flatMap((read) =>
      [...read.results, ...read.calls, ...(read.media === null ? [] : [read.media])].map(({ weight }) => weight),
    );
    return [...this.head.map(({ outside }) => outside), ...inside].reduce(add, this.weightFrom(this.covered));
  }

  /** All that stands from a message on, as shown now. */
  weightFrom(from: number): Weight {
    const outside = this.messages.slice(from).reduce((sum, read) => add(sum, read.outside), NO_WEIGHT);
    return this.prunable.reduce((sum, { message, shown }) => (message < from ? sum : add(sum, shown)), outside);
  }

  /** The digest of what the first messages say; null if it cannot be written. Prompts are left out: hosts change them. */
  digestOf(count: number): string | null {
    try {
      const said = () => this.messages.slice(0, count).flatMap(({ view }) => (isSpoken(view) ? [saidIn(view)] : []));
      const digest = this.#digests.get(count) ?? this.#sha256(JSON.stringify(said()));
      this.#digests.set(count, digest);
      return digest;
    } catch {
      return null;
    }
  }

  /** How many of the first messages are said, prompts not counted. */
  spokenIn(count: number): number {
    return this.messages.slice(0, count).filter(({ view }) => isSpoken(view)).length;
  }

  /** The place after so many messages that are said; null if there are fewer. */
  endOf(spoken: number): number | null {
    let left = spoken;
    const last = this.messages.findIndex(({ view }) => isSpoken(view) && --left === 0);
    return last === -1 ? null : last + 1;
  }

  /** By what a message is changed. */
  changeOf(index: number): MessageChange {
    const items = (this.edited.get(index) ?? []).toSorted((a, b) => a.at - b.at || Number(a.isCall) - Number(b.isCall));
    return {
      edits: items.flatMap(({ result, form, isMedia }) => (form === null || isMedia ? [] : [editOf(result.at, form)])),
      mediaText: items.find(({ isMedia }) => isMedia)?.form?.mediaText ?? null,
    };
  }

  /** Gives an item a form that it may be shown in. */
  give(item: Item, form: Form): void {
    // A spread would take room for 16 more.
    item.forms = item.forms.concat(form);
    this.withForms.add(item);
  }

  /** Counts an item at another weight until it is shown in a form. */
  expect(item: Item, weight: Weight): void {
    this.total = add(subtract(this.total, item.shown), weight);
    item.shown = weight;
  }

  /** Shows an item in a form, or for null as it came. */
  show(item: Item, form: Form | null): void {
    const shown = shownWeight(item, form);
    this.total = add(subtract(this.total, item.shown), shown);
    item.shown = shown;
    item.step = form?.step ?? STEP.whole;
    this.written.delete(item.message);
    const others = (this.edited.get(item.message) ?? []).filter((other) => other !== item);
    const edited = form === null ? others : others.concat(item);
    if (edited.length > 0) this.edited.set(item.message, edited);
    else this.edited.delete(item.message);
    this.formed[item.isCall ? "calls" : item.isMedia ? "media" : "results"] +=
      Number(form !== null) - Number(item.form !== null);
    item.form = form;
  }

  #supersede(item: Item, call: WireCall | null): void {
    const read = fileReadBy(item.tool, call);
    if (read === null || item.isError) return;
    const earlier = this.#reads.get(read.path) ?? [];
    for (const one of earlier) one.item.superseded ||= supersedes(read, one.read);
    const left = earlier.filter((one) => !one.item.superseded).slice(-MAX_READS);
    this.#reads.set(read.path, [...left, { item, read }]);
  }
}

const NO_FORMS: Form[] = [];

function newItem(
  message: number,
  read: ReadResult,
  about: Pick<Item, "at" | "tool" | "number" | "made" | "answers">,
): Item {
  const { result } = read;
  const { isError, media, fixed } = result;
  const { at, tool, number, made, answers } = about;
  const item: Item = {
    message,
    tool,
    isError,
    untouchable: fixed,
    superseded: false,
    shown: read.weight,
    step: STEP.whole,
    isCall: made !== null,
    isMedia: false,
    read,
    result,
    made,
    at,
    call: result.id,
    answers,
    number,
    form: null,
    forms: NO_FORMS,
    isInsured: fixed,
  };
  if (media.count > 0) item.heldMedia = { count: media.count, isUsers: false };
  return item;
}

/** What an item takes in a form, or for null as it came. A form without words for its media leaves them. */
export function shownWeight({ read }: Item, form: Form | null): Weight {
  if (form === null) return read.weight;
  return form.mediaText === undefined ? add(form.weight, subtract(read.weight, read.texts)) : form.weight;
}

/** Returns true if an item shows images, audio or files. */
export function showsMedia({ heldMedia, form }: Item): boolean {
  return heldMedia !== undefined && form?.mediaText === undefined;
}

/** Returns true if a message is part of what is said: prompts and notes of the host are not. */
export function isSpoken({ role }: { role: WireRole }): boolean {
  return role !== "system" && role !== "other";
}

function editOf(at: string, { texts, mediaText }: Form): WireEdit {
  return mediaText === undefined ? { at, texts } : { at, texts, mediaText };
}

/** The messages with results in their forms; what did not change is the same object, and so is what was written before. */
export function writeMessages<Message>(
  wire: Wire,
  messages: readonly Message[],
  conversation: Conversation,
): Message[] {
  const { edited, written, covered, head } = conversation;
  if (edited.size === 0 && covered === 0) return messages as Message[];
  for (const index of edited.keys()) {
    if (index < covered || written.has(index)) continue;
    written.set(index, writeMessage(wire, conversation, index));
  }
  const sent = messages.slice();
  for (const [index, message] of written) sent[index] = message as Message;
  return covered === 0 ? sent : [...(head.map(({ source }) => source) as Message[]), ...sent.slice(covered)];
}

/** What another reading of the same conversation wrote serves again, if the forms are the same. */
function writeMessage(wire: Wire, conversation: Conversation, index: number): unknown {
  const read = conversation.messages[index] as ReadMessage;
  if (read.source instanceof StoredMessage) return new ChangedMessage(wire, conversation, index);
  const change = conversation.changeOf(index);
  if (read.written === null || !isSameChange(read.written.change, change)) {
    read.written = { change, message: writeChange(wire, read.source, change) };
  }
  return read.written.message;
}

/** A changed message of a file is no smaller than the file's, so it is made where it is written down. */
class ChangedMessage extends StoredMessage {
  readonly #wire: Wire;
  readonly #conversation: Conversation;
  readonly #index: number;

  constructor(wire: Wire, conversation: Conversation, index: number) {
    super();
    this.#wire = wire;
    this.#conversation = conversation;
    this.#index = index;
  }

  override load(): unknown {
    const { source } = this.#conversation.messages[this.#index] as ReadMessage;
    return writeChange(this.#wire, loaded(source), this.#conversation.changeOf(this.#index));
  }
}

function isSameChange(one: MessageChange, other: MessageChange): boolean {
  return (
    one.mediaText === other.mediaText &&
    one.edits.length === other.edits.length &&
    one.edits.every(({ at, texts, mediaText }, index) => {
      const edit = other.edits[index];
      return edit?.at === at && edit.texts === texts && edit.mediaText === mediaText;
    })
  );
}
