import { afterEach, expect, it, vi } from "vitest";
import { NUMBERS } from "../stages/policy/defaults.ts";
import { MAX_BODY_BYTES } from "../stages/recover/peek-response.ts";
import { Answer, Frames, UsageInStream } from "./answer.ts";

const encoder = new TextEncoder();
afterEach(() => void vi.useRealTimers());

it("frames come out as they went in, whatever the chunks, also those that are too long to look into", () => {
  for (const end of ["\n\n", "\r\n\r\n", "\r\r"]) {
    const long = `data: ${"\u{1f600}x".repeat(MAX_BODY_BYTES / 3)}xx${end}`;
    const stream = `data: 1${end}${long}data: 2${end}data: 3`;
    const bytes = encoder.encode(stream);
    const last = encoder.encode(`data: 2${end}data: 3`).length;
    // The last chunks are single bytes: the end of the long frame is split.
    const cuts = [...Array(Math.ceil(bytes.length / 99_991)).keys()].map((at) => at * 99_991);
    const ends = [...new Set([...cuts, ...Array.from({ length: last + 9 }, (_, at) => bytes.length - at)])];
    ends.sort((one, other) => one - other);
    const frames = new Frames();
    const out = ends.flatMap((to, at) => frames.add(bytes.subarray(ends[at - 1] ?? 0, to)));
    out.push(...frames.end());
    // Each piece is written as bytes of its own.
    expect(Buffer.concat(out.map(({ text }) => encoder.encode(text))).equals(bytes)).toBe(true);
    const whole = out.filter(({ isWhole }) => isWhole).map(({ text }) => text);
    expect(whole).toEqual([`data: 1${end}`, `data: 2${end}`, "data: 3"]);
  }
});

it("usage is found behind a frame that is too long", () => {
  const usage = new UsageInStream();
  const long = "x".repeat(MAX_BODY_BYTES);
  for (const text of [`data: "${long}`, `"usage": ${long}"\n\n`, 'data: {"usage":{"prompt_tokens":7}}\n\n'])
    usage.add(encoder.encode(text));
  expect(usage.end().inputTokens).toBe(7);
});

/** A response that says each of these when it is told to go on, and then ends or breaks off. */
function slow(type: string, status: number, said: readonly string[], fault?: Error) {
  let goOn = () => {};
  async function* body() {
    for (const text of said) {
      yield encoder.encode(text);
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
    }
    if (fault !== undefined) throw fault;
  }
  const answer = new Answer({ status, headers: new Headers({ "content-type": type }), body: body() });
  return { answer, goOn: () => goOn() };
}

it("an answer that is here already is looked at and handed on without being waited for", async () => {
  const headers = new Headers({ "content-type": "text/event-stream" });
  const said = encoder.encode('data: {"type":"ping"}\n\ndata: {"type":"error","error":{"message":"too long"}}\n\n');
  const unread = (async function* () {
    yield await Promise.reject(new Error("it was read twice"));
  })();
  const answer = new Answer({ status: 200, headers, body: unread, takeWhole: () => said });
  expect(await answer.firstError()).toMatchObject({ error: { message: "too long" } });
  expect(answer.whole).toBe(said);
  const handed: Uint8Array[] = [];
  for await (const chunk of answer.bytes()) handed.push(chunk);
  expect(handed).toEqual([said]);
});

it("a stream that is silent before its first output is handed on after a time, whole", async () => {
  vi.useFakeTimers();
  const { answer, goOn } = slow("text/event-stream", 200, [": ping\n\n", 'data: {"error":{}}\n\n']);
  const looked = vi.fn<(error: unknown) => void>();
  void answer.firstError().then(looked);
  await vi.advanceTimersByTimeAsync(NUMBERS.recoverHoldMs.default - 1);
  expect(looked).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(looked).toHaveBeenCalledWith(null);
  const bytes = answer.bytes();
  const next = async () => Buffer.from((await bytes.next()).value ?? []).toString();
  expect(await next()).toBe(": ping\n\n");
  goOn();
  expect(await next()).toBe('data: {"error":{}}\n\n');
  const end = bytes.next();
  await vi.advanceTimersByTimeAsync(0);
  goOn();
  expect((await end).done).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

it("pings do not hold a stream for longer, and an error in time is found", async () => {
  vi.useFakeTimers();
  const pinged = slow("text/event-stream", 200, Array(99).fill(": ping\n\n"));
  const timer = setInterval(pinged.goOn, 1000);
  const looked = vi.fn<(error: unknown) => void>();
  void pinged.answer.firstError().then(looked);
  await vi.advanceTimersByTimeAsync(NUMBERS.recoverHoldMs.default);
  expect(looked).toHaveBeenCalledWith(null);
  clearInterval(timer);
  const refused = slow("text/event-stream", 200, [": ping\n\n", 'data: {"error":{"code":1}}\n\n']);
  setTimeout(refused.goOn, NUMBERS.recoverHoldMs.default - 1);
  const error = refused.answer.firstError();
  await vi.advanceTimersByTimeAsync(NUMBERS.recoverHoldMs.default - 1);
  expect(await error).toEqual({ error: { code: 1 } });
  expect(vi.getTimerCount()).toBe(0);
});

it("a body that stalls is looked at as far as it came, and where it breaks off later is told its reader", async () => {
  vi.useFakeTimers();
  const { answer, goOn } = slow("application/json", 413, ['{"error":'], new Error("broke off"));
  const text = answer.text();
  await vi.advanceTimersByTimeAsync(NUMBERS.recoverLookMs.default);
  expect(await text).toBe('{"error":');
  const bytes = answer.bytes();
  expect(Buffer.from((await bytes.next()).value ?? []).toString()).toBe('{"error":');
  goOn();
  await expect(bytes.next()).rejects.toThrow("broke off");
});
