import type { Recorder } from "../admit/recorder.ts";
import type { Call, CallOptions, SendContext } from "../call/call-options.ts";
import type { SpillwayEvent } from "../contract/event.ts";
import type { Policy } from "../contract/policy.ts";
import { OverflowError } from "../errors.ts";
import type { Access } from "../stages/mark/access.ts";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { isRecord, isTraced } from "../values.ts";
import { wireNamed } from "../wire/index.ts";
import { Answer, type AnswerUsage, type Exchanged, type ExchangeResponse, UsageInStream, usageOf } from "./answer.ts";
import { type Endpoint, endpointOf } from "./endpoint.ts";
import { Elements, ListAsEvents, listOf } from "./list-stream.ts";
import { OWN_SPEECHES } from "./own-speech.ts";
import { type ClientRequest, HiddenTurns, OWN_TOOLS, type ReadsBack } from "./own-tools.ts";
import { OwnTurns } from "./own-turns.ts";
import { BodyReader, type ExchangeBody } from "./read-body.ts";
import { offersOwn, readerOf } from "./tool-names.ts";
import { appendList, type Change, writeBody, writeList, writeValue } from "./write-body.ts";

/** One HTTP request to a model provider, as a client made it. */
export interface ExchangeRequest {
  method: string;
  /** The URL or its path. */
  url: string;
  headers: { get(name: string): string | null };
  /** All of the body. It must not be changed later. Null if there is none. */
  body: Uint8Array | null;
  signal?: AbortSignal | undefined;
}

/** What is known when a body is sent. */
export interface ExchangeContext extends Pick<SendContext, "signal" | "attempt"> {
  /** False if the body is the one that came. */
  isChanged: boolean;
}

/** Sends a body to the provider. Headers are the caller's; those whose name begins with `x-spillway` are left out. */
export type ExchangeSend<R extends ExchangeResponse> = (
  body: Uint8Array | null,
  context: ExchangeContext,
) => Promise<R>;

/** Options of one exchange. */
export interface ExchangeOptions
  extends Pick<
    CallOptions,
    | "session"
    | "window"
    | "pruning"
    | "ladder"
    | "compactor"
    | "media"
    | "whenPartlyRead"
    | "provider"
    | "rules"
    | "deadlineMs"
    | "agent"
    | "records"
  > {
  /** Names the session of a conversation that nobody names, by the first words of its user. */
  nameSession?: ((firstText: string) => string) | undefined;
  /**
   * Adds our recall and search to requests that offer tools, and answers them here, so that a model can read what a marker
   * names although its client has no such tool.
   */
  addRecallTool?: boolean | undefined;
  /** Who sent the request, for the events of what its model reads back with these tools. */
  readBy?: string | undefined;
  /** The client runs on another machine: a shell of its model does not reach what is kept here. */
  isElsewhere?: boolean | undefined;
}

/**
 * One exchange with a model provider. The request goes through `call`: results over their limits are clamped and kept, old
 * ones are pruned, and if the provider refuses for size, it is sent again before the client sees any output. What is not a
 * request to a model, and what cannot be read, passes as it came.
 */
export type Exchange = <R extends ExchangeResponse>(
  request: ExchangeRequest,
  send: ExchangeSend<R>,
  options?: ExchangeOptions,
) => Promise<Exchanged<R>>;

/** What exchanges work with. Nothing is looked up. */
export interface ExchangePorts {
  policy: Policy;
  call: Call;
  /** How the reader of markers gets at the rest, as far as its tools let it. */
  access: Access;
  recorder: Recorder;
  readBack: ReadsBack;
  now(): number;
}

/** Makes the function that passes requests on. */
export function newExchange(ports: ExchangePorts): Exchange {
  const exchanges = new Exchanges(ports);
  return (request, send, options = {}) => exchanges.pass(request, send, options);
}

/** The same, with a name for who reads. */
function readsAs(from: ReadsBack, readBy: string): ReadsBack {
  return {
    recall: (id, want) => from.recall(id, want, { readBy }),
    search: (id, query) => from.search(id, query, { readBy }),
    since: (id, options) => from.since(id, { ...options, readBy }),
  };
}

class Exchanges {
  readonly #ports: ExchangePorts;
  readonly #hidden = new HiddenTurns();
  #untold: SpillwayEvent[] = [];
  readonly #bodies = new BodyReader({
    maxBytes: NUMBERS.exchangeBodyBytes.default,
    maxBodies: NUMBERS.pruneConversations.default,
  });

  constructor(ports: ExchangePorts) {
    this.#ports = ports;
  }

  async pass<R extends ExchangeResponse>(
    request: ExchangeRequest,
    send: ExchangeSend<R>,
    options: ExchangeOptions,
  ): Promise<Exchanged<R>> {
    const { method, url, headers, body: bytes } = request;
    const isOff = this.#ports.policy.profile === "off" || headers.get("x-spillway")?.trim().toLowerCase() === "off";
    const endpoint = isOff || !isJson(headers) ? null : endpointOf(method, url);
    const body = endpoint === null || bytes === null ? null : this.#bodies.read(bytes, endpoint.shape);
    if (endpoint === null || body === null) {
      const answer = new Answer(await this.#plainly(request, send));
      return endpoint === null ? handedOn(answer) : this.#tapped(answer, { endpoint, model: endpoint.model }, 1);
    }
    const wire = options.addRecallTool === true ? wireNamed(endpoint.shape.wire) : null;
    const asked = wire && { wire, scope: scopeOf(headers, options), messages: body.messages };
    const withOwn = asked && this.#withOwnTools(endpoint, body, asked);
    if (withOwn !== null && endpoint.isList) return this.#passList(request, send, options);
    const first = await this.#answer(request, send, options, { endpoint, body: withOwn ?? body });
    if (withOwn === null || asked === null || endpoint.asks === "count") return first;
    const turns = new OwnTurns<R>({
      request: asked,
      from: options.readBy === undefined ? this.#ports.readBack : readsAs(this.#ports.readBack, options.readBy),
      hidden: this.#hidden,
      next: async (messages) => {
        const changes = [{ span: withOwn.list, pieces: appendList(withOwn, messages) }];
        const longer = this.#bodies.read(writeBody(withOwn.bytes, changes), endpoint.shape);
        return this.#answer(request, send, options, { endpoint, body: longer ?? withOwn });
      },
    });
    return turns.answer(first);
  }

  /** Passes a request whose answer is a list on as one whose answer is a stream of events. */
  async #passList<R extends ExchangeResponse>(
    request: ExchangeRequest,
    send: ExchangeSend<R>,
    options: ExchangeOptions,
  ): Promise<Exchanged<R>> {
    const url = `${request.url}${request.url.includes("?") ? "&" : "?"}alt=sse`;
    const sendList: ExchangeSend<ListAsEvents<R>> = async (body, context) =>
      new ListAsEvents(await send(body, context));
    const { response, body, ...exchanged } = await this.pass({ ...request, url }, sendList, options);
    if (!response.isList || body === null) return { ...exchanged, response: response.response, body };
    return { ...exchanged, response: response.response, body: listOf(body), whole: null, isChanged: true };
  }

  /** Returns the body with our tools, and with our earlier calls put back. Null if they cannot be added. */
  #withOwnTools({ shape }: Endpoint, body: ExchangeBody, asked: ClientRequest): ExchangeBody | null {
    const speech = OWN_SPEECHES[shape.wire];
    const tools = body.members.findLast(({ name }) => name === "tools");
    if (!speech || tools === undefined || offersOwn(body.beside)) return null;
    if ((shape.answers(body.about) ?? 1) !== 1) return null;
    const offered = speech.offer(body.beside.tools, OWN_TOOLS);
    if (offered === null) return null;
    const restored = this.#hidden.restore(asked, shape.isHeld(body.about));
    const changes: Change[] = [{ span: tools, pieces: writeValue(body.bytes, tools, body.beside.tools, offered) }];
    if (restored !== body.messages) changes.push({ span: body.list, pieces: writeList(body, restored) });
    return this.#bodies.read(writeBody(body.bytes, changes), shape);
  }

  #plainly<R extends ExchangeResponse>({ body, signal }: ExchangeRequest, send: ExchangeSend<R>): Promise<R> {
    return send(body, { signal: signal ?? new AbortController().signal, attempt: 1, isChanged: false });
  }

  async #answer<R extends ExchangeResponse>(
    request: ExchangeRequest,
    send: ExchangeSend<R>,
    options: ExchangeOptions,
    { endpoint, body }: { endpoint: Endpoint; body: ExchangeBody },
  ): Promise<Exchanged<R>> {
    const { shape } = endpoint;
    const sending = new Sending(body, endpoint, request.body, send);
    const about = this.#about(request, options, { endpoint, body });
    const { agent, pruning } = options;
    const toModel: AnsweredBy = { endpoint, model: about.model ?? null, session: about.session, agent };
    // Nobody can shorten here what the provider holds.
    const isHeld = shape.isHeld(body.about);
    try {
      const { answer, usage } = await this.#ports.call(body.messages, sending.send, {
        wire: shape.wire,
        session: about.session,
        model: about.model,
        systemAndTools: body.beside,
        answerTokens: about.answerTokens,
        lowersAnswer: about.answerTokens !== undefined && Object.keys(shape.withAnswerTokens(body.about, 1)).length > 0,
        reader: about.reader,
        signal: request.signal,
        onPrepared: ({ after, afterParts, window }) => {
          toModel.request = { tokens: after.tokens, ...afterParts, windowTokens: window.tokens };
        },
        pruning: isHeld ? { ...pruning, mode: "off" } : pruning,
        ladder: isHeld ? CLAMP_ONLY : options.ladder,
        agent,
        window: options.window,
        compactor: options.compactor,
        media: options.media,
        whenPartlyRead: options.whenPartlyRead,
        provider: options.provider,
        rules: options.rules,
        deadlineMs: options.deadlineMs,
        records: options.records,
      });
      sending.dropOthers(answer);
      return this.#tapped(answer, toModel, sending.sends, usage);
    } catch (error) {
      const isFinal = error instanceof OverflowError;
      const answer = sending.answerOf(isFinal ? error.cause : error);
      if (answer !== null) {
        sending.dropOthers(answer);
        return { ...handedOn(answer), isFinal };
      }
      if (sending.sends > 0 || request.signal?.aborted) throw error;
      // A fault of ours must not keep a request from being sent.
      return this.#tapped(new Answer(await this.#plainly(request, send)), toModel, 1);
    }
  }

  #about(
    { headers }: ExchangeRequest,
    { session, nameSession, isElsewhere }: ExchangeOptions,
    { endpoint, body }: Pick<Asked, "endpoint" | "body">,
  ) {
    const named = sessionNamed(headers, session);
    const { model = endpoint.model } = body.about;
    const answerTokens = endpoint.shape.answerTokens(body.about);
    const { access } = this.#ports;
    return {
      session: named ?? nameSession?.(firstText(endpoint, body)),
      model: typeof model === "string" ? model : undefined,
      answerTokens: answerTokens >= 0 ? answerTokens : undefined,
      reader: readerOf(body.beside, isElsewhere && access.by === "shell" ? { by: "operator" } : access),
    };
  }

  /** Hands an answer on, and records what it cost. */
  #tapped<R extends ExchangeResponse>(
    answer: Answer<R>,
    about: AnsweredBy,
    sends: number,
    known?: AnswerUsage,
  ): Exchanged<R> {
    const { endpoint, model, session = null, agent, request } = about;
    if (!answer.isOk || endpoint.asks === "count") return handedOn(answer);
    const record = (usage: AnswerUsage) => {
      const to = { wire: endpoint.shape.wire, model, ...(agent !== undefined && { agent }) };
      const isStreamed = answer.form === "events" || endpoint.isList;
      const more = { ...to, sends, isStreamed, ...usage, ...(request && { request }) };
      const none = { tool: null, call: null, artifact: null, receipt: null };
      const atMs = this.#ports.now();
      this.#tell({ kind: "request-answered", atMs, session, ...none, more });
    };
    if (answer.form === "events") return handedOn(answer, tap(answer.bytes(), record, new UsageInStream()));
    if (endpoint.isList && answer.form === "json")
      return handedOn(answer, tap(answer.bytes(), record, new UsageInStream(new Elements())));
    record(known ?? { inputTokens: null, outputTokens: null });
    return handedOn(answer);
  }

  /** Records an event after the client got its answer: with those of others, or alone if a tracer has to know whose it is. */
  #tell(event: SpillwayEvent): void {
    const record = (...events: SpillwayEvent[]) => void this.#ports.recorder.event(...events).catch(() => {});
    if (isTraced()) {
      setImmediate(record, event);
      return;
    }
    if (this.#untold.push(event) > 1) return;
    setImmediate(() => record(...this.#untold.splice(0)));
  }
}

/** Who answers, and what it was asked: events say it. */
interface AnsweredBy {
  endpoint: Endpoint;
  model: string | null;
  session?: string | undefined;
  agent?: string | undefined;
  /** Estimates of what was sent first. */
  request?: { tokens: number; systemAndToolsTokens: number; resultTokens: number; windowTokens: number };
}

function sessionNamed(headers: ExchangeRequest["headers"], session: string | undefined): string | undefined {
  return headers.get("x-spillway-session")?.trim() || session;
}

/** Headers that say who asks. */
const CREDENTIALS = ["authorization", "x-api-key", "api-key", "x-goog-api-key"];

/** Whose conversation a request belongs to, as far as it says. */
function scopeOf(headers: ExchangeRequest["headers"], { session }: ExchangeOptions): string {
  return JSON.stringify([sessionNamed(headers, session), ...CREDENTIALS.map((name) => headers.get(name))]);
}

interface Asked {
  endpoint: Endpoint;
  body: ExchangeBody;
}

function firstText({ shape }: Endpoint, { messages }: ExchangeBody): string {
  const wire = wireNamed(shape.wire);
  for (const message of messages) {
    const { role, text } = wire?.read(message) ?? {};
    if (role === "user" && text) return text;
  }
  return "";
}

/** The rungs that change only new results. */
const CLAMP_ONLY = ["clamp-results", "drop-media", "reclamp"] as const;

function isJson(headers: ExchangeRequest["headers"]): boolean {
  const encoding = headers.get("content-encoding");
  return /^$|\bjson\b/.test(headers.get("content-type") ?? "") && (encoding === null || encoding === "identity");
}

function handedOn<R extends ExchangeResponse>(answer: Answer<R>, tapped?: AsyncIterable<Uint8Array>): Exchanged<R> {
  const { response } = answer;
  const body = response.body === null ? null : (tapped ?? answer.bytes());
  // Who takes all at once reads past what is tapped.
  return { response, body, whole: tapped === undefined ? answer.whole : null, isChanged: false, isFinal: false };
}

async function* tap(
  bytes: AsyncIterable<Uint8Array>,
  record: (usage: AnswerUsage) => void,
  usage: UsageInStream,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of bytes) {
      // A client that leaves with this chunk got it all the same.
      try {
        yield chunk;
      } finally {
        usage.add(chunk);
      }
    }
  } finally {
    record(usage.end());
  }
}

/** An answer as `call` looks at it: what it says about sizes, never what it says. */
interface Reply<R extends ExchangeResponse> {
  answer: Answer<R>;
  usage?: AnswerUsage;
}

/** A response that is an error, as `call` reads it to tell why. */
class Refused {
  readonly status: number;
  readonly url: string | undefined;
  readonly body: string | undefined;
  readonly error: unknown;

  constructor({ status, url }: ExchangeResponse, said: { body?: string; error?: unknown }) {
    this.status = status;
    this.url = url === "" ? undefined : url;
    this.body = said.body;
    this.error = said.error;
  }
}

/** If an answer counts fewer tokens than one for so many bytes of the request, `call` should look at it. */
const MOST_BYTES_A_TOKEN = 12;

/** The sends of one request. */
class Sending<R extends ExchangeResponse> {
  sends = 0;
  readonly #body: ExchangeBody;
  /** The body as the client sent it. */
  readonly #came: Uint8Array | null;
  readonly #asks: Endpoint["asks"];
  readonly #isList: boolean;
  readonly #send: ExchangeSend<R>;
  readonly #answers: Answer<R>[] = [];
  readonly #refusals = new Map<unknown, Answer<R>>();

  constructor(body: ExchangeBody, { asks, isList }: Endpoint, came: Uint8Array | null, send: ExchangeSend<R>) {
    this.#body = body;
    this.#came = came;
    this.#asks = asks;
    this.#isList = isList;
    this.#send = send;
  }

  readonly send = async (messages: unknown[], context: SendContext): Promise<Reply<R>> => {
    const { signal, attempt, began } = context;
    const sent = this.#write(messages, context);
    this.sends++;
    const answer = new Answer(await this.#send(sent, { signal, attempt, isChanged: sent !== this.#came }));
    this.#answers.push(answer);
    if (!answer.isOk) {
      const body = await answer.text();
      if (body !== null) this.#refuse(answer, { body });
    } else if (answer.form === "events" || (answer.form === "json" && this.#isList)) {
      const error = await answer.firstError(undefined, answer.form === "json" ? new Elements() : undefined);
      if (error !== null) this.#refuse(answer, { error });
    } else if (answer.form === "json" && this.#asks === "answer") {
      const reply = replyOf(answer, await answer.text());
      if (isPlain(reply, sent.length)) began();
      return reply;
    }
    began();
    return { answer };
  };

  /** Returns the body with these messages, and with fewer tokens reserved for the answer if that is asked for. */
  #write(messages: unknown[], { answerTokens }: SendContext): Uint8Array {
    const { bytes, list, shape, about, members } = this.#body;
    const changes: Change[] = [];
    if (!isSameList(messages, this.#body.messages))
      changes.push({ span: list, pieces: writeList(this.#body, messages) });
    const lower = answerTokens === null ? {} : shape.withAnswerTokens(about, answerTokens);
    for (const [field, value] of Object.entries(lower)) {
      const span = members.findLast(({ name }) => name === field);
      if (span !== undefined) changes.push({ span, pieces: writeValue(bytes, span, about[field], value) });
    }
    return changes.length === 0 ? bytes : writeBody(bytes, changes);
  }

  /** Returns the response that this refusal stands for, or null if it is something else. */
  answerOf(refusal: unknown): Answer<R> | null {
    return this.#refusals.get(refusal) ?? null;
  }

  #refuse(answer: Answer<R>, said: { body?: string; error?: unknown }): never {
    const refused = new Refused(answer.response, said);
    this.#refusals.set(refused, answer);
    throw refused;
  }

  /** Ends all responses but the one that is handed on. */
  dropOthers(kept: Answer<R>): void {
    for (const answer of this.#answers) if (answer !== kept) answer.drop();
  }
}

function isSameList(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((message, at) => message === other[at]);
}

/** The fields of an answer that `call` reads. */
const ABOUT_ANSWER = ["usage", "usageMetadata", "stop_reason", "incomplete_details", "choices", "candidates", "error"];

function replyOf<R extends ExchangeResponse>(
  answer: Answer<R>,
  text: string | null,
): Reply<R> & Record<string, unknown> {
  const parsed = parsedAnswer(text);
  const said: Record<string, unknown> = {};
  for (const name of ABOUT_ANSWER) if (parsed[name] !== undefined) said[name] = parsed[name];
  // The status of a response that failed is a word; that of ours is a number.
  if (parsed.status === "failed") said.status = "failed";
  return Object.assign(said, { answer, usage: usageOf(parsed) });
}

function parsedAnswer(text: string | null): Record<string, unknown> {
  try {
    const parsed: unknown = text === null ? null : JSON.parse(text);
    return typeof parsed === "object" && parsed !== null ? (parsed as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Words of an answer that ended for its length. */
const CUT_OFF = /length|max_tokens|max_output|window|error/i;

/** Returns true if an answer has nothing odd: it did not end for its length, and the provider counted about what was sent. */
function isPlain(reply: Reply<ExchangeResponse> & Record<string, unknown>, bytes: number): boolean {
  const { stop_reason, incomplete_details: details, choices, candidates, status, usage } = reply;
  const about = [stop_reason, isRecord(details) ? details.reason : details, ...endings(choices ?? candidates)];
  const isCutOff = status === "failed" || about.some((why) => typeof why === "string" && CUT_OFF.test(why));
  const { inputTokens = null } = usage ?? {};
  return !isCutOff && (inputTokens === null || inputTokens * MOST_BYTES_A_TOKEN >= bytes);
}

function endings(choices: unknown): unknown[] {
  if (!Array.isArray(choices)) return [];
  return choices.map((choice: { finish_reason?: unknown; finishReason?: unknown } | null) => {
    return choice?.finish_reason ?? choice?.finishReason;
  });
}
