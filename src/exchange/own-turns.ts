import { isRecord, type JsonRecord } from "../values.ts";
import { type Exchanged, type ExchangeResponse, Frames, type FrameText, formOf, isOk } from "./answer.ts";
import { OWN_SPEECHES, type OwnResult, type OwnSpeech, type Shown } from "./own-speech.ts";
import { answerOwn, type ClientRequest, type HiddenTurns, isOwnTool, type ReadsBack } from "./own-tools.ts";

/** What the model may read back in one answer, in rounds. Then its calls are left unanswered. */
const MAX_ROUNDS = 8;

/** What answering our calls works with. */
interface OwnTurnPorts<R extends ExchangeResponse> {
  /** What the client asked. */
  request: ClientRequest;
  from: ReadsBack;
  hidden: HiddenTurns;
  /** Sends the request again with more messages at its end. */
  next(messages: readonly unknown[]): Promise<Exchanged<R>>;
}

/** One answer in which the model may call our tools. The client gets it without these calls, as if it were one. */
export class OwnTurns<R extends ExchangeResponse> {
  readonly #ports: OwnTurnPorts<R>;
  readonly #speech: OwnSpeech;
  /** The messages of the rounds so far. */
  readonly #messages: unknown[] = [];

  constructor(ports: OwnTurnPorts<R>) {
    this.#ports = ports;
    const { name } = ports.request.wire;
    const speech = OWN_SPEECHES[name];
    if (speech === undefined) throw new Error(`nobody knows how ${name} calls tools`);
    this.#speech = speech;
  }

  /** Returns what the client gets: what came, until the model calls one of ours. */
  async answer(first: Exchanged<R>): Promise<Exchanged<R>> {
    const form = formOf(first.response);
    if (!isOk(first.response) || first.body === null || form === "other") return first;
    return form === "events"
      ? { ...first, body: this.#streamed(first), whole: null, isChanged: true }
      : this.#whole(first);
  }

  async #whole(first: Exchanged<R>): Promise<Exchanged<R>> {
    let before: JsonRecord | null = null;
    let round = first;
    for (let rounds = 0; ; rounds++) {
      const bytes = await allBytes(round.body);
      const answer = isOk(round.response) ? parsed(new TextDecoder().decode(bytes)) : null;
      if (answer === null) return { ...round, body: once(bytes) };
      const { own, client } = this.#callsIn(answer);
      if (own.length === 0 && before === null) return { ...round, body: once(bytes) };
      const results = await this.#answers(own);
      const shown: JsonRecord = this.#speech.shown(answer, isOwnTool, before);
      if (own.length === 0 || client.length > 0 || rounds >= MAX_ROUNDS) {
        this.#keep(answer, client, results);
        return { ...round, body: once(encode(shown)), whole: null, isChanged: true };
      }
      before = shown;
      round = await this.#next(answer, results);
    }
  }

  async *#streamed(first: Exchanged<R>): AsyncGenerator<Uint8Array, void> {
    const shown: Shown = { count: 0, items: [], events: 0, first: null, round: 0 };
    let round = first;
    for (;;) {
      const turn = this.#speech.stream(isOwnTool, shown);
      const held: Frame[] = [];
      let isHolding = false;
      for await (const frame of framesIn(round.body)) {
        if (frame.event !== null && turn.add(frame.event)) isHolding = true;
        if (isHolding) held.push(frame);
        else yield* written(frame, frame.event && turn.show(frame.event, false));
      }
      const answer = turn.answer();
      const { own, client } = this.#callsIn(answer);
      const results = await this.#answers(own);
      const isMore = own.length > 0 && client.length === 0 && shown.round < MAX_ROUNDS;
      for (const frame of held) {
        if (frame.event !== null) yield* written(frame, turn.show(frame.event, isMore));
        else if (!isMore || !frame.isWhole) yield* written(frame, null);
      }
      if (!isMore) {
        if (own.length > 0 || shown.round > 0) this.#keep(answer, client, results);
        return;
      }
      shown.round++;
      round = await this.#next(answer, results);
      if (isOk(round.response) && formOf(round.response) === "events") continue;
      const said = parsed(new TextDecoder().decode(await allBytes(round.body))) ?? {};
      const error = isRecord(said.error) ? said.error : { type: "api_error", message: "the answer broke off" };
      const fault = this.#speech.fault(error);
      yield encode(frameOf(fault, typeof fault.type === "string"));
      return;
    }
  }

  async #next(answer: JsonRecord, results: readonly OwnResult[]): Promise<Exchanged<R>> {
    this.#messages.push(...this.#speech.turn(answer), ...this.#speech.results(results));
    return this.#ports.next(this.#messages);
  }

  #answers(own: readonly OwnResult["call"][]): Promise<OwnResult[]> {
    return Promise.all(own.map((call) => answerOwn(call, this.#ports.from)));
  }

  /** Keeps what the client does not see of a turn that goes on. */
  #keep(answer: JsonRecord, client: readonly OwnResult["call"][], results: readonly OwnResult[]): void {
    const messages = [...this.#messages, ...this.#speech.turn(answer)];
    this.#ports.hidden.keep(this.#ports.request, client, { messages, results });
  }

  #callsIn(answer: JsonRecord) {
    const calls = this.#speech.turn(answer).flatMap((message) => this.#ports.request.wire.read(message).calls);
    return {
      own: calls.filter(({ tool }) => isOwnTool(tool)),
      client: calls.filter(({ tool }) => !isOwnTool(tool)),
    };
  }
}

/** A frame of a stream, and its event if it has one that was read. */
interface Frame extends FrameText {
  event: JsonRecord | null;
}

async function* framesIn(bytes: AsyncIterable<Uint8Array> | null): AsyncGenerator<Frame, void> {
  const frames = new Frames();
  const read = (frame: FrameText): Frame => ({ ...frame, event: frame.isWhole ? parsed(dataOf(frame.text)) : null });
  for await (const chunk of bytes ?? []) for (const frame of frames.add(chunk)) yield read(frame);
  for (const frame of frames.end()) yield read(frame);
}

function dataOf(frame: string): string {
  const lines = frame.split(/\r\n|\n|\r/).filter((line) => line.startsWith("data:"));
  return lines.map((line) => line.slice("data:".length)).join("\n");
}

/** Writes a frame with the event that the client gets; null writes none. A frame without an event stays as it is. */
function* written({ text, event }: Frame, shown: JsonRecord | null): Generator<Uint8Array, void> {
  if (event === null || shown === event) yield encode(text);
  else if (shown !== null) yield encode(frameOf(shown, /^event:/m.test(text)));
}

function frameOf(event: JsonRecord, isNamed: boolean): string {
  return `${isNamed ? `event: ${String(event.type)}\n` : ""}data: ${JSON.stringify(event)}\n\n`;
}

const encoder = new TextEncoder();

function encode(value: string | JsonRecord): Uint8Array {
  return encoder.encode(typeof value === "string" ? value : JSON.stringify(value));
}

async function allBytes(bytes: AsyncIterable<Uint8Array> | null): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes ?? []) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield bytes;
}

function parsed(text: string): JsonRecord | null {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}
