import type { Policy, PruningInput, PruningPolicy } from "../contract/policy.ts";
import type { Wire } from "../contract/wire.ts";
import { badInput, messageOf } from "../errors.ts";
import { definedOnly, mergeInputs } from "../stages/policy/check-row.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { resolvePruning } from "../stages/policy/resolve-sections.ts";
import { planEachRequest } from "../stages/prune/plan-each-request.ts";
import { planSteps, type StepPlan, type Triggers } from "../stages/prune/plan-steps.ts";
import { mayPrune, STEP } from "../stages/prune/prune-item.ts";
import { type ResolvedWindow, resolveWindow } from "../stages/prune/resolve-window.ts";
import { counted } from "../values.ts";
import { detectWire, wireNamed } from "../wire/index.ts";
import { plainWire, requireWire } from "../wire/registry.ts";
import { budgetBatch, insureResults, overLimits } from "./clamp-results.ts";
import { Conversation, type Item, shownWeight, writeMessages } from "./conversation.ts";
import { cutResults, frameOf } from "./cut-results.ts";
import type { Form } from "./form.ts";
import { Memories, type Memory } from "./memories.ts";
import { type PrepareOptions, type PreparePorts, readBy } from "./ports.ts";
import { Preparation, textOf } from "./preparation.ts";
import { MessageReader, type ReadMessage } from "./read-message.ts";
import type { Prepared } from "./report.ts";
import { type RequestAbout, RequestMemory } from "./request-memory.ts";
import { aboutOf, emptyReport, reportOf } from "./write-report.ts";

/** Conversations that are remembered by what they say, and the bytes of all of them. */
const MAX_RECENT = 32;
const MAX_RECENT_BYTES = 64 * 1024 * 1024;
/** The first user speaks within so many messages. */
const MAX_PROMPTS = 8;

/** Tools whose policy is remembered. */
const MAX_TOOLS = 10_000;

/** Prepares requests. Never throws for what the messages are: then they come back as they were, with the fault told. */
export type Prepare = <Message>(messages: readonly Message[], options?: PrepareOptions) => Promise<Prepared<Message>>;

/** A prepared request that is going to be sent. */
export interface OpenedRequest<Message> extends Prepared<Message> {
  /** Null if the messages' format is not known, or preparing failed. */
  memory: RequestMemory | null;
}

/** Prepares requests, for those who send themselves and for `call`; it remembers what it read and what it showed. */
export interface Preparing {
  prepare: Prepare;
  /** Prepares a request with the summaries that its conversation has. */
  open: <Message>(messages: readonly Message[], options: PrepareOptions) => Promise<OpenedRequest<Message>>;
}

/** Makes the functions that prepare requests. */
export function newPreparing(ports: PreparePorts): Preparing {
  const preparer = new Preparer(ports);
  const attempt = async <Message>(messages: readonly Message[], options: PrepareOptions, isCall: boolean) => {
    const { window, pruning } = settle(ports.policy, options);
    try {
      return await preparer.prepare(messages, { ...options, isCall }, window, pruning);
    } catch (error) {
      const fault = `preparing failed, the messages were left as they came: ${messageOf(error)}`;
      const report = { ...emptyReport(pruning, window, fault), faults: [fault] };
      await tell(ports, options, { fault }).catch(() => {});
      return { messages: messages as Message[], report, memory: null };
    }
  };
  return {
    async prepare(messages, options = {}) {
      const { messages: sent, report } = await attempt(messages, options, false);
      return { messages: sent, report };
    },
    open: (messages, options) => attempt(messages, options, true),
  };
}

/** Options are a programmer's: what is wrong with them is thrown. */
function settle(policy: Policy, options: PrepareOptions): { window: ResolvedWindow; pruning: PruningPolicy } {
  if (options.wire !== undefined) requireWire(options.wire);
  const { window } = options;
  if (window !== undefined && !(Number.isFinite(window) && window >= 1))
    throw badInput(`window must be a number of tokens, 1 or more; got ${String(window)}`);
  const resolved = resolveWindow(policy, options);
  if (options.pruning === undefined) return { window: resolved, pruning: policy.pruning };
  const given = mergeInputs({ pruning: policy.pruning as PruningInput }, { pruning: options.pruning });
  return { window: resolved, pruning: resolvePruning(given.pruning, policy.profile) };
}

/** Options of a request that `call` may send. */
type Asked = PrepareOptions & { isCall: boolean };

/** A conversation as it was read last, by its first message. */
interface Known {
  wire: Wire;
  session: string | null;
  conversation: Conversation;
}

class Preparer {
  readonly #ports: PreparePorts;
  readonly #reader: MessageReader;
  readonly #memories: Memories;
  readonly #known = new WeakMap<object, Known>();
  readonly #recent = new RecentConversations();
  /** One request of a conversation at a time. */
  readonly #turns = new WeakMap<object, Promise<unknown>>();

  constructor(ports: PreparePorts) {
    const { ledger, breaker, deadlineMs } = ports;
    this.#ports = { ...ports, resolve: remembered(ports.resolve) };
    this.#reader = new MessageReader(ports.counter);
    this.#memories = new Memories({
      ledger,
      breaker,
      deadlineMs,
      sha256: ports.sha256,
      seal: ports.seal,
      weigh: (texts, long) => this.#reader.weigh(texts, long),
      maxConversations: NUMBERS.pruneConversations.default,
      maxChars: NUMBERS.pruneProjectionChars.default,
    });
  }

  async prepare<Message>(
    messages: readonly Message[],
    options: Asked,
    window: ResolvedWindow,
    pruning: PruningPolicy,
  ): Promise<OpenedRequest<Message>> {
    if (!Array.isArray(messages)) throw badInput("prepare takes a list of messages");
    const first: unknown = messages[0];
    const run = () => this.#prepare(messages as readonly Message[], options, window, pruning);
    if (typeof first !== "object" || first === null) return run();
    const turn = (this.#turns.get(first) ?? Promise.resolve()).then(run);
    // What came of it must not stay in memory with it.
    const over = () => {};
    this.#turns.set(first, turn.then(over, over));
    return turn;
  }

  async #prepare<Message>(
    messages: readonly Message[],
    options: Asked,
    resolved: ResolvedWindow,
    pruning: PruningPolicy,
  ): Promise<OpenedRequest<Message>> {
    const wire = this.#wireOf(messages, options);
    const off = this.#ports.policy.profile === "off";
    if (wire === null || off) {
      const why = off ? "the profile is off" : "the message format is not known: name it with `wire`";
      return { messages: messages as Message[], report: emptyReport(pruning, resolved, why), memory: null };
    }
    const session = options.session ?? null;
    const { conversation, keep } = this.#read(wire, messages, session, pruning.sticky);
    const memory = await this.#recall(conversation, { wire, session, model: options.model ?? null });
    memory.give();
    if (options.isCall) memory.cover();
    else conversation.covered = 0;
    const { windowTokens: learned } = memory.learned;
    const window = learned !== null && learned < resolved.tokens ? { ...resolved, tokens: learned } : resolved;
    const ports = options.reader === undefined ? this.#ports : readBy(this.#ports, options.reader);
    const preparation = new Preparation(ports, this.#reader, conversation, {
      pruning,
      windowTokens: window.tokens,
      session,
      via: { wire: wire.name, model: options.model, agent: options.agent },
      records: options.records ?? "cut",
      messages,
      systemAndTools: options.systemAndTools ?? options.beside,
    });
    const { model, agent } = options;
    const isOdd = warnOfOdd(preparation);
    const plan = pruning.sticky
      ? await this.#steps(preparation, memory.own)
      : await this.#eachRequest(preparation, memory.own);
    keep();
    const { before, replayed } = plan;
    const report = reportOf(preparation, { wire, window, before, replayed }, plan.plan);
    if (isOdd || preparation.changes.length > 0)
      await tell(this.#ports, options, { ...aboutOf(report), ...definedOnly({ model, agent }) });
    return { messages: writeMessages(wire, messages, conversation), report, memory };
  }

  async #recall(conversation: Conversation, about: Omit<RequestAbout, "counter">): Promise<RequestMemory> {
    const { scope, counter } = this.#ports;
    const { turns, firstText } = conversation;
    const { key, startKey } = turns.keysOf({ scope, session: about.session, firstText });
    const known: Memory[] = [];
    for (const each of new Set([startKey, key])) known.push(await this.#memories.of(each));
    return new RequestMemory(this.#memories, known, conversation, this.#reader, { ...about, counter: counter.name });
  }

  async #steps(preparation: Preparation, memory: Memory) {
    const { conversation, ports, session } = preparation;
    const { items, turns } = conversation;
    showAgain(conversation, preparation.pruning);
    const before = preparation.total;
    const replayed = { ...conversation.formed };
    const over = overLimits(conversation, preparation);
    conversation.lookedAt = items.length;
    // What no model has seen yet shares one budget as it is clamped, and is never cleared.
    const newest = new Set(conversation.newest());
    if (over.length > 0)
      await insureResults(
        over.filter((item) => newest.has(item)),
        new Set(),
        preparation,
      );
    await budgetBatch(conversation, preparation);
    const idleMs = idleTime(memory, ports.now());
    const plan = planSteps(frameOf(preparation), preparation.pruning, {
      idleMs,
      weightFrom: (message) => conversation.weightFrom(message),
    });
    const cleared = new Set(plan.cuts.flatMap(({ item, to }) => (to === "cleared" ? item : [])));
    if (over.length > 0)
      await insureResults(
        over.filter((item) => !newest.has(item)),
        cleared,
        preparation,
      );
    if (plan.cuts.length > 0) await cutResults(plan.cuts, preparation, plan.forced);
    const shown = [...preparation.shown.keys()];
    const made = { session, point: turns.last };
    if (shown.length > 0 && !(await this.#memories.save(memory, made, conversation, shown)) && ports.ledger !== null) {
      preparation.fault("the ledger could not keep the projections: memory has them");
    }
    return { before, replayed, plan };
  }

  async #eachRequest(preparation: Preparation, memory: Memory) {
    const { conversation, pruning } = preparation;
    // Nothing that pruning did is shown again, only what a provider accepted in place of what it refused.
    showAgain(conversation, { ...pruning, mode: "off" });
    for (const item of conversation.items) {
      if (textOf(item) === pruning.hardClear.placeholder) item.step = STEP.cleared;
    }
    // This plan knows nothing of limits. With `chars/4` it is held to the letter.
    if (pruning.estimate !== "chars/4")
      await insureResults(overLimits(conversation, preparation), new Set(), preparation);
    const before = preparation.total;
    const { cuts, why } = planEachRequest(frameOf(preparation), pruning, idleTime(memory, preparation.ports.now()));
    await cutResults(cuts, preparation, false);
    const trigger = { active: cuts.length > 0, why };
    const stateless = { active: false, why: "sticky is false" };
    const triggers: Triggers = { pressure: trigger, bytes: stateless, age: stateless, idle: stateless };
    const plan: StepPlan<Item> = { cuts, why, triggers, forced: false };
    return { before, replayed: { results: 0, calls: 0, media: 0 }, plan };
  }

  #wireOf(messages: readonly unknown[], { wire, isCall }: Asked): Wire | null {
    if (wire !== undefined) return wireNamed(wire);
    const first = messages[0];
    const known = typeof first === "object" && first !== null ? this.#known.get(first)?.wire : undefined;
    return known ?? detectWire(messages) ?? (isCall ? plainWire(messages) : null);
  }

  /**
   * What is known of these messages, with those read that are new. Hosts that build their messages anew are known by what
   * they say. A conversation serves one request at a time, until `keep` is called.
   */
  #read(wire: Wire, messages: readonly unknown[], session: string | null, isSticky: boolean) {
    const first = messages[0];
    if (!isSticky || typeof first !== "object" || first === null)
      return { conversation: this.#add(new Conversation(this.#ports.sha256), wire, messages), keep: () => {} };
    const known = this.#known.get(first);
    const mine = known?.wire === wire && known.session === session ? known.conversation : undefined;
    const key = this.#recentKey(wire, messages, session);
    const earlier = mine ?? this.#recent.get(key);
    const isLonger = earlier?.isBusy === false && earlier.isStartOf(messages);
    const begun = isLonger ? earlier : new Conversation(this.#ports.sha256);
    begun.isBusy = true;
    const conversation = this.#add(begun, wire, messages, earlier?.messages);
    this.#known.set(first, { wire, session, conversation });
    const keep = () => {
      conversation.isBusy = false;
      this.#recent.keep(key, conversation);
    };
    return { conversation, keep };
  }

  #add(to: Conversation, wire: Wire, messages: readonly unknown[], earlier: readonly ReadMessage[] = []): Conversation {
    for (let at = to.messages.length; at < messages.length; at++)
      to.add(this.#reader.read(wire, messages[at], earlier[at]));
    return to;
  }

  #recentKey(wire: Wire, messages: readonly unknown[], session: string | null): string {
    const isUser = (message: unknown) => this.#reader.read(wire, message).view.role === "user";
    const user = messages.slice(0, MAX_PROMPTS).find(isUser);
    const text = user === undefined ? null : this.#reader.read(wire, user).view.text;
    return JSON.stringify([wire.name, session, text]);
  }
}

/** Conversations that were prepared last, for hosts that build their messages anew for each request. */
class RecentConversations {
  readonly #known = new Map<string, { conversation: Conversation; bytes: number }>();
  #bytes = 0;

  get(key: string): Conversation | undefined {
    return this.#known.get(key)?.conversation;
  }

  /** Keeps a conversation; the oldest go where there are too many or too large ones. */
  keep(key: string, conversation: Conversation): void {
    const { bytes } = conversation.total;
    this.#drop(key);
    this.#known.set(key, { conversation, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MAX_RECENT && this.#bytes <= MAX_RECENT_BYTES) break;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#bytes -= this.#known.get(key)?.bytes ?? 0;
    this.#known.delete(key);
  }
}

/** The time since the last request of a conversation, and from now on since this one; null if there was none. */
function idleTime(memory: Memory, nowMs: number): number | null {
  const idleMs = memory.lastMs === null ? null : nowMs - memory.lastMs;
  memory.lastMs = nowMs;
  return idleMs;
}

/** Shows each result in the shortest form it was given: cut as it came in any case, pruned while it may be pruned. */
function showAgain(conversation: Conversation, pruning: PruningPolicy): void {
  const { firstUser, assistants, withForms, prunable: items } = conversation;
  const { may } = mayPrune({ firstUser, assistants, items }, pruning);
  for (const item of withForms) {
    const mostStep = may(item) ? STEP.cleared : STEP.clamped;
    const charsIn = (form: Form) => shownWeight(item, form).chars;
    let shortest: Form | null = null;
    for (const form of item.forms) {
      if (form.step <= mostStep && (shortest === null || charsIn(form) < charsIn(shortest))) shortest = form;
    }
    if (item.form !== shortest) conversation.show(item, shortest);
  }
}

/** What no provider would take is passed on all the same; that it is there is told once. */
function warnOfOdd(preparation: Preparation): boolean {
  const { conversation } = preparation;
  const { malformed, firstCall } = conversation;
  // Without a call in it, a list of results is what it is meant to be.
  const orphans = firstCall === null ? 0 : conversation.orphans;
  if (malformed + orphans <= conversation.told) return false;
  conversation.told = malformed + orphans;
  if (malformed > 0)
    preparation.warn(`${counted(malformed, "part")} of messages could not be read: passed on unchanged`);
  if (orphans > 0) preparation.warn(`${counted(orphans, "result")} without a call before it in the request`);
  return true;
}

/** The same answer for the same tool, found once. */
function remembered(resolve: PreparePorts["resolve"]): PreparePorts["resolve"] {
  const known = new Map<string, ReturnType<typeof resolve>>();
  return (tool) => {
    const found = known.get(tool) ?? resolve(tool);
    if (known.size < MAX_TOOLS) known.set(tool, found);
    return found;
  };
}

/** Tells of a pruned request. With `records: "all"`, as a gateway has it, nobody waits for the ledger. */
async function tell(
  ports: PreparePorts,
  { session, records }: Pick<PrepareOptions, "session" | "records">,
  more: Record<string, unknown>,
) {
  const about = { session: session ?? null, tool: null, call: null, artifact: null, receipt: null };
  const told = ports.recorder.event({ kind: "request-pruned", atMs: ports.now(), ...about, more });
  if (records === "all") void told.catch(() => {});
  else await told;
}
