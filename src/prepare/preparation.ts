import type { PruningPolicy } from "../contract/policy.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { joinTexts } from "../stages/prune/trim-text.ts";
import { add, type Weight } from "../stages/prune/weight.ts";
import { isRecord, tried } from "../values.ts";
import type { Conversation, Item } from "./conversation.ts";
import type { Form } from "./form.ts";
import type { PreparePorts, RequestVia } from "./ports.ts";
import type { MessageReader } from "./read-message.ts";
import type { PruneChange } from "./report.ts";

/** What one call of prepare works with, and what it did so far. */
export class Preparation {
  readonly ports: PreparePorts;
  readonly reader: MessageReader;
  readonly conversation: Conversation;
  readonly pruning: PruningPolicy;
  readonly windowTokens: number;
  readonly session: string | null;
  readonly via: RequestVia;
  readonly records: "cut" | "all";
  readonly messages: readonly unknown[];
  /** What is sent besides the messages. */
  readonly systemAndTools: Weight;
  /** New forms, to be kept before they are shown; the last of an item counts. */
  readonly shown = new Map<Item, PruneChange["to"]>();
  /** The first of them; the others are counted. */
  readonly changes: PruneChange[] = [];
  moreChanges = 0;
  readonly warnings: string[] = [];
  readonly faults: string[] = [];

  constructor(
    ports: PreparePorts,
    reader: MessageReader,
    conversation: Conversation,
    options: Pick<Preparation, "pruning" | "windowTokens" | "session" | "via" | "records" | "messages"> & {
      systemAndTools: unknown;
    },
  ) {
    this.ports = ports;
    this.reader = reader;
    this.conversation = conversation;
    this.pruning = options.pruning;
    this.windowTokens = options.windowTokens;
    this.session = options.session;
    this.via = options.via;
    this.records = options.records;
    this.messages = options.messages;
    this.systemAndTools = reader.weighSystemAndTools(options.systemAndTools);
  }

  /** The whole request, as far as it is known. */
  get total(): Weight {
    return add(this.conversation.shownTotal, this.systemAndTools);
  }

  change(item: Item, to: PruneChange["to"], form: Form): void {
    const fromChars = item.shown.chars;
    const mediaText = form.mediaText ?? item.form?.mediaText;
    const shown = mediaText === undefined ? form : { ...form, mediaText };
    this.conversation.give(item, shown);
    this.conversation.show(item, shown);
    this.shown.set(item, to);
    if (this.changes.length >= NUMBERS.pruneReportChanges.default) {
      this.moreChanges++;
      return;
    }
    const { message, tool, call, isCall, isMedia } = item;
    this.changes.push({
      of: isCall ? "call" : isMedia ? "media" : "result",
      message,
      tool,
      call,
      to,
      fromChars,
      toChars: item.shown.chars,
      artifact: form.kept?.id ?? null,
    });
  }

  warn(text: string): void {
    if (this.warnings.length < NUMBERS.pruneReportChanges.default) this.warnings.push(text);
  }

  fault(text: string): void {
    if (this.faults.length < NUMBERS.pruneReportChanges.default && !this.faults.includes(text)) this.faults.push(text);
  }

  /** Pages of an artifact are never saved as another. */
  isRecall(tool: string): boolean {
    const { access } = this.ports;
    return access.by === "tool" && (tool === access.recall || tool === access.search);
  }
}

/** What made a result: its call's command, if that is what the tool takes, and all of its arguments. */
export function madeBy(answers: { input: unknown } | null): { command?: string; args?: unknown } {
  const input = answers?.input;
  const args = typeof input === "string" ? (tried((): unknown => JSON.parse(input)) ?? input) : input;
  const command = isRecord(args) ? args.command : undefined;
  return { ...(typeof command === "string" && { command }), ...(args !== undefined && args !== null && { args }) };
}

/** A result's text as it came. */
export function textOf({ result }: Item): string {
  return joinTexts(result.texts);
}

/** What a result is known by: its text, and how large its media are. */
export function digestText(item: Item): string {
  const { count, bytes } = item.result.media;
  return count === 0 ? textOf(item) : `${textOf(item)}\n${count} ${bytes}`;
}

/** A result's text as it is shown now. */
export function shownText({ form, result }: Item): string {
  return joinTexts(form?.texts ?? result.texts);
}
