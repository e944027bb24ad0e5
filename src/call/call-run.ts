import type { EventKind } from "../contract/event.ts";
import type { Verdict } from "../contract/verdict.ts";
import { untilAborted } from "../deadline.ts";
import { badInput, messageOf, type OverflowError, type OverflowStep } from "../errors.ts";
import { type MessageChange, writeChange } from "../prepare/form.ts";
import { readBy } from "../prepare/ports.ts";
import type { RequestMemory } from "../prepare/request-memory.ts";
import { definedOnly, mergeInputs } from "../stages/policy/check-row.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { resolvePruning } from "../stages/policy/resolve-sections.ts";
import { type ResolvedWindow, resolveWindow } from "../stages/prune/resolve-window.ts";
import type { Weight } from "../stages/prune/weight.ts";
import { giveUp } from "../stages/recover/give-up.ts";
import { ladderOf } from "../stages/recover/ladders.ts";
import {
  fillsLimit,
  leftoverShare,
  lowerAnswer,
  recoveryGoal,
  withLowerAnswer,
  withOutput,
} from "../stages/recover/recovery-goal.ts";
import {
  asItCame,
  attemptSend,
  type Classifying,
  classifyingOf,
  discard,
  type Outcome,
  type Refusal,
} from "./attempt-send.ts";
import type { Call, CallOptions, CallPorts, Send } from "./call-options.ts";
import { CallScale, type Counters, countersOf } from "./call-scale.ts";
import { Draft } from "./draft.ts";
import { fits, type ReduceTools, reduceDraft, type TakenRung } from "./reduce-draft.ts";

/** A refusal by what it says of the next request. */
interface Judged {
  verdict: Verdict;
  /** True if the next request reserves less for the answer. */
  isLowered: boolean;
}

/** One call, from the first send to an answer or an error. */
export class CallRun<Message> {
  readonly #given: readonly Message[];
  readonly #options: CallOptions;
  readonly #shared: CallPorts;
  /** Made of `#shared` if the request has a reader of its own. What only a recovery needs is not made before. */
  #own: CallPorts | null = null;
  readonly #scale: CallScale;
  readonly #window: ResolvedWindow;
  /** Ends a recovery that takes too long. There is none before the first refusal, and none is made: it costs. */
  #stop: AbortController | null = null;
  #signal: AbortSignal;
  readonly #taken: TakenRung[] = [];
  readonly #compactions = { count: 0 };
  /** How messages of drafts were made from given ones. */
  readonly #made = new Map<unknown, MadeMessage>();
  /** How cuts are recorded, by the texts they gave. Only those that were sent last are. */
  #records: ReduceTools["records"] | null = null;
  #memory: RequestMemory | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** How many of the given messages the draft's start replaces, and how long that start is. */
  #covered = 0;
  #head = 0;
  /** What the request may reserve for the answer, if a refusal was about that. */
  #answerTokens: number | null = null;

  constructor(ports: CallPorts, counters: Counters, given: readonly Message[], options: CallOptions) {
    this.#shared = ports;
    this.#given = given;
    this.#options = options;
    this.#scale = new CallScale(counters, options.systemAndTools ?? options.beside);
    this.#window = resolveWindow(ports.policy, options);
    this.#signal = options.signal ?? new AbortController().signal;
  }

  get #ports(): CallPorts {
    const { reader } = this.#options;
    this.#own ??= reader === undefined ? this.#shared : readBy(this.#shared, reader);
    return this.#own;
  }

  run<Reply>(send: Send<Message, Reply>): Promise<Reply> {
    return this.#send(send).finally(() => clearTimeout(this.#timer));
  }

  async #send<Reply>(send: Send<Message, Reply>): Promise<Reply> {
    const { rungs, maxSends } = ladderOf(this.#options.ladder ?? "default");
    const prepared = await this.#prepare();
    let { messages } = prepared;
    let draft: Draft | null = null;
    // A request that is answered is not weighed a second time.
    const drafted = () => (draft ??= prepared.draft());
    let before: Weight = NOTHING;
    let last: Refusal<Reply> | null = null;
    /** An answer for which the provider did not read the whole request. It is returned if no better one comes. */
    let silent: Refusal<Reply> | null = null;
    for (let sends = 1; ; sends++) {
      let outcome: Outcome<Reply>;
      try {
        const context = { signal: this.#signal, attempt: sends, answerTokens: this.#answerTokens };
        outcome = await attemptSend(send, messages as Message[], context, () => this.#classifying(drafted()));
      } catch (error) {
        const isOver = this.#isLate() || (silent !== null && !this.#signal.aborted);
        if (last === null || !isOver) throw error;
        return this.#fail(silent ?? last, draft as Draft, before, sends, messageOf(error));
      }
      if (outcome.isDone) {
        if (outcome.inputTokens !== null) await this.#answered(drafted(), outcome.inputTokens);
        if (outcome.doubt !== undefined)
          await this.#tell("overflow-detected", { ...aboutVerdict(outcome.doubt), attempt: sends, isKept: true });
        if (last !== null && draft !== null) await this.#recovered(draft, before, sends);
        for (const refusal of [last, silent]) if (refusal?.cause !== outcome.reply) discard(refusal?.cause);
        return outcome.reply;
      }
      draft = drafted();
      // A hint is followed once.
      if (draft === null || (outcome.verdict.isHint && last?.verdict.isHint)) return asItCame(outcome);
      if (last !== null && last !== silent) discard(last.cause);
      last = outcome;
      if (outcome.answer?.isSilent) silent = outcome;
      const refused = silent ?? outcome;
      this.#startDeadline();
      let next: Draft | null;
      try {
        draft = await untilAborted(this.#scale.recount(draft, outcome.verdict), this.#signal);
        if (sends === 1) before = draft.total;
        await this.#tell("overflow-detected", { ...aboutVerdict(outcome.verdict), attempt: sends, ...sizeOf(draft) });
        const judged = this.#besideAnswer(outcome.verdict);
        if (judged === null) {
          const why = "the answer that it reserves room for leaves none for the messages";
          return this.#fail(refused, draft, before, sends, why);
        }
        if (sends >= maxSends) return this.#fail(refused, draft, before, sends, `it was sent ${sends} times`);
        next = await this.#reduce(draft, judged, sends - 1, rungs);
      } catch (error) {
        if (this.#signal.aborted && !this.#isLate()) throw error;
        return this.#fail(refused, draft, before, sends, messageOf(error));
      }
      if (next === null) return this.#fail(refused, draft, before, sends, "nothing more could be taken away");
      draft = next;
      messages = [...draft.messages];
    }
  }

  /** Returns the messages as they are sent first. There is no draft of them if their format is not known. */
  async #prepare(): Promise<{ draft(): Draft | null; messages: readonly unknown[] }> {
    const { wire, session, window, model, pruning, reader, agent, records, beside } = this.#options;
    const { systemAndTools = beside } = this.#options;
    const asked = { wire, session, window, model, pruning, reader, agent, records, systemAndTools };
    const { messages, memory, report } = await this.#shared.open(this.#given, asked);
    this.#options.onPrepared?.(report);
    const draft = () => {
      if (memory === null) return null;
      try {
        const { covered, head } = memory.start;
        messages.forEach((message, at) => {
          const origin = at < head ? message : this.#given[at - head + covered];
          if (message === origin) return;
          this.#made.set(message, { origin, base: message, change: memory.changeOf(at - head + covered) });
        });
        const made = new Draft(memory.wire, messages, this.#scale.now);
        [this.#memory, this.#covered, this.#head] = [memory, covered, head];
        return made;
      } catch {
        return null; // a fault of ours must not keep an answer from coming back
      }
    };
    // Copies the list, because the sender may add to it.
    return { draft, messages: [...messages] };
  }

  /** Keeps the size of an answered request, from which what is sent besides the messages can be learned. */
  async #answered(draft: Draft | null, inputTokens: number): Promise<void> {
    const known = this.#memory?.learned.answered ?? [];
    if (draft === null || known.some((one) => one.inputTokens <= inputTokens)) return;
    await this.#memory?.learn({ answered: { tokens: this.#scale.preparedTokens(draft), inputTokens } });
  }

  #madeOf(message: unknown): MadeMessage {
    return this.#made.get(message) ?? { origin: message, base: message, change: { edits: [], mediaText: null } };
  }

  /** Writes a message anew from the caller's, with what was changed before and more. */
  #change({ wire }: Draft, message: unknown, more: MessageChange): unknown {
    const made = this.#madeOf(message);
    const edits = new Map(made.change.edits.map((edit) => [edit.at, edit]));
    for (const edit of more.edits) edits.set(edit.at, { ...edits.get(edit.at), ...edit });
    const change = { edits: [...edits.values()], mediaText: more.mediaText ?? made.change.mediaText };
    const written = writeChange(wire, made.origin, change);
    this.#made.set(written, { ...made, change });
    return written;
  }

  /**
   * Lowers the room for the answer if it is too large, once. Returns the verdict on the request with that, or null if the
   * room for the answer takes all of the limit.
   */
  #besideAnswer(said: Verdict): Judged | null {
    const { answerTokens, lowersAnswer } = this.#options;
    const verdict = withOutput(said, this.#answerTokens ?? answerTokens ?? 0);
    const lowered = lowersAnswer && this.#answerTokens === null ? lowerAnswer(verdict, answerTokens) : null;
    if (lowered === null) return fillsLimit(verdict) ? null : { verdict, isLowered: false };
    this.#answerTokens = lowered;
    return { verdict: withLowerAnswer(verdict, lowered), isLowered: true };
  }

  async #reduce(
    draft: Draft,
    { verdict, isLowered }: Judged,
    refusals: number,
    rungs: ReturnType<typeof ladderOf>["rungs"],
  ): Promise<Draft | null> {
    const tools = this.#tools(draft);
    const { total } = draft;
    const answerTokens = this.#answerTokens ?? this.#options.answerTokens ?? 0;
    // With the lower reservation nothing has to go.
    if (isLowered && (verdict.observedTokens ?? Infinity) <= (verdict.limitTokens ?? 0)) return draft;
    const { isExact } = this.#scale.now;
    const systemAndToolsTokens = this.#scale.systemAndToolsTokens(draft, verdict, this.#memory?.learned.answered ?? []);
    const goal = recoveryGoal({
      verdict,
      weight: total,
      systemAndToolsTokens,
      answerTokens,
      isExact,
      windowTokens: this.#window.tokens,
      isWindowKnown: this.#isWindowKnown(),
      maxRequestBytes: tools.pruning.maxRequestBytes,
      refusals,
    });
    if (goal.limitTokens !== null && verdict.kind === "context-overflow") {
      const share = this.#scale.preparedTokens(draft) / Math.max(1, total.tokens);
      await this.#memory?.learn({ windowTokens: Math.max(1, Math.floor(goal.windowTokens * share)) });
    }
    const next = await reduceDraft(draft, rungs, goal, verdict.kind, tools);
    if (next === draft) return null;
    this.#noteSummary(draft, next);
    const last = this.#taken.at(-1);
    const isInsisted = rungs.some(({ name, insists }) => insists && name === last?.rung) && last?.freedTokens !== 0;
    if (isInsisted || fits(next, goal)) return next;
    const systemAndTools = systemAndToolsTokens ?? 0;
    const share = leftoverShare(
      verdict,
      total.tokens + systemAndTools,
      next.total.tokens + systemAndTools,
      answerTokens,
      isExact,
    );
    return (share ?? 0) <= 1 ? next : null;
  }

  /** Notes which of the given messages a summary replaces now. */
  #noteSummary(before: Draft, after: Draft): void {
    const most = Math.min(after.messages.length, this.#given.length - this.#covered);
    const isSame = (at: number) => {
      const [one, other] = [before.messages.at(-1 - at), after.messages.at(-1 - at)];
      return this.#madeOf(one).origin === this.#madeOf(other).origin;
    };
    let same = 0;
    while (same < most && isSame(same)) same++;
    this.#covered = this.#given.length - same;
    this.#head = after.messages.length - same;
  }

  #tools(draft: Draft): ReduceTools {
    const { policy } = this.#ports;
    const { pruning: given } = this.#options;
    const merged = mergeInputs({ pruning: policy.pruning }, { pruning: given }).pruning;
    const pruning = given === undefined ? policy.pruning : resolvePruning(merged, policy.profile);
    return {
      ports: this.#ports,
      session: this.#options.session ?? null,
      placeholder: pruning.hardClear.placeholder,
      softTrim: pruning.softTrim,
      originOf: (message) => this.#madeOf(message).origin,
      baseOf: (message) => this.#madeOf(message).base,
      records: (this.#records ??= new WeakMap()),
      change: (message, more) => this.#change(draft, message, more),
      scale: this.#scale.now,
      pruning,
      compactor: this.#options.compactor ?? null,
      compactMs: this.#deadlineMs / (NUMBERS.recoverCompactions.default + 1),
      mayDropAllMedia: this.#options.media === "all",
      signal: this.#signal,
      compactions: this.#compactions,
      tell: async (taken) => {
        this.#taken.push(taken);
        await this.#tell("overflow-reduced", { ...taken });
      },
    };
  }

  #isWindowKnown(): boolean {
    return this.#window.from !== "default";
  }

  #classifying(draft: Draft | null): Classifying {
    const window = this.#isWindowKnown() ? this.#window.tokens : null;
    return classifyingOf(this.#options, this.#ports.rules, window, draft, this.#scale.saidTokens);
  }

  async #recordCuts({ messages }: Draft): Promise<void> {
    for (const message of messages) {
      for (const { texts } of this.#made.get(message)?.change.edits ?? []) await this.#records?.get(texts ?? [])?.();
    }
  }

  async #recovered(draft: Draft, before: Weight, sends: number): Promise<void> {
    await this.#recordCuts(draft);
    const { messages } = draft;
    const changes = new Map<number, MessageChange>();
    for (let at = this.#head; at < messages.length; at++) {
      const made = this.#made.get(messages[at]);
      if (made !== undefined) changes.set(at - this.#head + this.#covered, made.change);
    }
    await this.#memory?.accept(changes, { covered: this.#covered, messages: messages.slice(0, this.#head) });
    const fault = this.#options.persist === true ? await persistHistory(draft, this.#options, this.#ports) : null;
    const sizes = { fromTokens: before.tokens, fromBytes: before.bytes, ...sizeOf(draft) };
    const { count: compactions } = this.#compactions;
    await this.#tell("overflow-recovered", {
      sends,
      compactions,
      rungs: this.#steps(),
      ...sizes,
      ...(fault !== null && { fault }),
    });
  }

  async #fail<Reply>(
    { verdict, cause, answer }: Refusal<Reply>,
    draft: Draft,
    before: Weight,
    sends: number,
    why: string,
  ): Promise<Reply> {
    await this.#recordCuts(draft);
    const left = this.#taken.at(-1);
    const after = left === undefined ? draft.total : { chars: 0, tokens: left.leftTokens, bytes: left.leftBytes };
    const error: OverflowError = giveUp({
      verdict,
      before,
      after,
      tried: this.#steps(),
      sends,
      why,
      canCompact: this.#options.compactor !== undefined,
      hasOutsideMedia: draft.outsideMedia.length > 0 && this.#options.media !== "all",
      cause,
    });
    await this.#tell("overflow-failed", { ...error.facts, ...aboutVerdict(verdict), why });
    // An answer to only part of the request is still an answer, and a hint may be wrong.
    if (answer?.isSilent || verdict.isHint) return asItCame({ isDone: false, verdict, cause, answer });
    discard(cause);
    throw error;
  }

  #steps(): OverflowStep[] {
    return this.#taken.map(({ rung, freedTokens, freedBytes, fault }) => ({ rung, freedTokens, freedBytes, fault }));
  }

  get #deadlineMs(): number {
    return Math.min(this.#options.deadlineMs ?? NUMBERS.recoverDeadlineMs.default, 2 ** 31 - 1); // the longest time that a timer takes
  }

  #startDeadline(): void {
    if (this.#stop !== null) return;
    const stop = new AbortController();
    this.#stop = stop;
    this.#signal = eitherSignal(this.#options.signal, stop.signal);
    this.#timer = setTimeout(() => stop.abort(LATE), this.#deadlineMs);
  }

  #isLate(): boolean {
    return this.#stop?.signal.reason === LATE;
  }

  #tell(kind: EventKind, more: Record<string, unknown>): Promise<void> {
    const { session, model, agent } = this.#options;
    return tellCall(this.#ports, session, kind, { ...definedOnly({ model, agent }), ...more });
  }
}

/** How a message of a draft was made. */
interface MadeMessage {
  /** The caller's message. */
  origin: unknown;
  /** The message as it was prepared, before a rung cut it. */
  base: unknown;
  change: MessageChange;
}

const NOTHING: Weight = { chars: 0, tokens: 0, bytes: 0 };
const LATE = new DOMException("the time for recovery is over", "TimeoutError");

/** Records what happened to one request. */
async function tellCall(
  { recorder, now }: CallPorts,
  session: string | undefined,
  kind: EventKind,
  more: Record<string, unknown>,
): Promise<void> {
  const about = { session: session ?? null, tool: null, call: null, artifact: null, receipt: null };
  await recorder.event({ kind, atMs: now(), ...about, more });
}

/** Returns the part of a verdict that an event carries. */
function aboutVerdict({ kind, rule, provider, observedTokens, limitTokens, evidence }: Verdict) {
  return {
    kind,
    rule,
    provider,
    observedTokens: observedTokens ?? null,
    limitTokens: limitTokens ?? null,
    evidence,
  };
}

function sizeOf({ total }: Draft) {
  return { estimatedTokens: total.tokens, bytes: total.bytes };
}

/**
 * Aborts when either signal does. It stays connected, so that a stream that was passed on still ends with its caller's
 * signal.
 */
function eitherSignal(one: AbortSignal | undefined, other: AbortSignal): AbortSignal {
  if (one === undefined) return other;
  if (typeof AbortSignal.any === "function") return AbortSignal.any([one, other]);
  const both = new AbortController();
  for (const signal of [one, other]) {
    if (signal.aborted) both.abort(signal.reason);
    else signal.addEventListener("abort", () => both.abort(signal.reason), { once: true });
  }
  return both.signal;
}

/**
 * Writes what was accepted into the caller's history, guarded. If that fails, returns the fault, so that the answer is
 * not lost.
 */
async function persistHistory(
  { messages, wire }: Draft,
  { session, history }: CallOptions,
  { guard }: CallPorts,
): Promise<string | null> {
  try {
    const guarded: unknown[] = [];
    for (const message of messages) guarded.push(await guard(message, { wire: wire.name, session }));
    await history?.replace(guarded);
    return null;
  } catch (error) {
    return `the transcript could not be rewritten: ${messageOf(error)}`;
  }
}

/** Makes the function that sends requests and recovers those that are refused for their size. */
export function newCall(ports: CallPorts): Call {
  const counters = countersOf(ports);
  return async (messages, send, options = {}) => {
    check(messages, send, options);
    // "off" means that nothing is changed, even if the request is refused.
    if (ports.policy.profile === "off") {
      const signal = options.signal ?? new AbortController().signal;
      return send([...messages], { signal, attempt: 1, answerTokens: null, began: () => {} });
    }
    return new CallRun(ports, counters, messages, options).run(send);
  };
}

/** What an option must be where it is set, and how that is said. */
const OPTION_CHECKS: { [K in keyof CallOptions]?: [isRight: (value: CallOptions[K]) => boolean, must: string] } = {
  media: [(media) => media === "results" || media === "all", 'must be "results" or "all"'],
  whenPartlyRead: [(when) => when === "keep" || when === "resend", 'must be "keep" or "resend"'],
  deadlineMs: [(ms) => Number(ms) > 0, "must be over 0"],
  lookMs: [(ms) => Number(ms) > 0 && Number(ms) < 2 ** 31, "must be over 0 and under 2^31"],
  compactor: [(compactor) => typeof compactor?.compact === "function", "needs a compact function"],
  // Checked now: rules are tried first when a request is refused, and a fault in them must not hide the refusal.
  rules: [
    (rules) => Array.isArray(rules) && rules.every((rule) => typeof rule?.signature === "object"),
    "must be what compileSignatures gave",
  ],
  signal: [(signal) => typeof signal?.addEventListener === "function", "must be an AbortSignal"],
  lowersAnswer: [(lowers) => typeof lowers === "boolean", "must be true or false"],
  model: [(model) => typeof model === "string", "must be a name"],
  answerTokens: [(tokens) => Number.isFinite(tokens) && Number(tokens) >= 0, "must be 0 or more"],
};

/** Throws if an option is wrong, because that is a mistake of the programmer. */
function check(messages: readonly unknown[], send: Send<never, unknown>, options: CallOptions): void {
  if (!Array.isArray(messages)) throw badInput("call takes a list of messages");
  if (typeof send !== "function") throw badInput("call takes a function that sends");
  ladderOf(options.ladder ?? "default");
  for (const [name, [isRight, must]] of CHECKED_OPTIONS) {
    const value: unknown = options[name];
    if (value !== undefined && !isRight(value)) throw badInput(`${name} ${must}; got ${String(value)}`);
  }
  if (options.persist === true && typeof options.history?.replace !== "function")
    throw badInput("persist needs a history with a replace function");
}

const CHECKED_OPTIONS = Object.entries(OPTION_CHECKS) as [keyof CallOptions, OptionCheck][];
type OptionCheck = [isRight: (value: unknown) => boolean, must: string];
