import assert from "node:assert/strict";
import fc from "fast-check";
import type { Wire, WireEdit, WireMessage, WireResult } from "../contract/wire.ts";
import { replaceMedia } from "../wire/blocks.ts";
import { missingMessages, pairResults } from "../wire/pair-results.ts";
import type { Runner, SuiteOptions } from "./test-strategy.ts";
import {
  assertSameOutside,
  assertWellFormed,
  deepFreeze,
  type Found,
  findLong,
  outline,
  type Path,
  pathsOf,
  putAt,
  readFixture,
  valueAt,
  type WireFixture,
} from "./wire-checks.ts";

/** Makes an object that throws when any of its fields is read. */
function trap(): object {
  return new Proxy(
    {},
    {
      get() {
        throw new Error("read a trap");
      },
    },
  );
}

function throwing(field: string, rest: object): object {
  return Object.defineProperty({ ...rest }, field, {
    enumerable: true,
    get() {
      throw new Error(`read ${field}`);
    },
  });
}

function cycle(): object {
  const loop: Record<string, unknown> = { type: "text" };
  loop.self = loop;
  return loop;
}

function nest(depth: number): unknown {
  let value: unknown = [];
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}

const MANY = 100_000;

/** Returns messages that are in no format. */
export function hostileMessages(): unknown[] {
  const junk = [null, 0, true, "", "text", [], [[]], {}, Number.NaN, trap(), cycle(), 10n, Symbol("s"), () => 1];
  const roles = [
    "user",
    "assistant",
    "tool",
    "toolResult",
    "function",
    "model",
    "system",
    "constructor",
    "__proto__",
    5,
  ];
  const fields = ["content", "parts", "output", "tool_calls", "kwargs", "data", "message", "result"];
  return [
    ...junk,
    undefined,
    ...roles.flatMap((role) => [{ role }, { role, content: junk }, { role, parts: junk }, { role, content: 7 }]),
    ...roles.map((role) => throwing("content", { role })),
    ...fields.flatMap((field) => junk.map((value) => ({ role: "tool", type: "tool", lc: 1, [field]: value }))),
    ...["content", "parts"].map((field) => ({ role: "user", [field]: Array.from({ length: MANY }, () => null) })),
    { role: "user", content: Array.from({ length: MANY }, (_none, at) => ({ type: "text", text: String(at) })) },
    { role: "assistant", tool_calls: Array.from({ length: MANY }, () => 1), content: cycle() },
    { role: "tool", content: [{ type: "tool-result", output: { type: "json", value: nest(MANY) } }] },
    { role: "assistant", content: [{ type: "tool_use", id: "1", name: "deep", input: nest(MANY) }] },
    { type: "function_call_output", call_id: {}, output: junk },
    { role: "user", parts: [{ functionResponse: { name: 1, response: cycle() } }] },
    { role: "user", content: [{ toolResult: { content: [{ json: cycle() }, { json: 10n }] } }] },
    { role: "tool", content: [{ type: "tool-result", output: { type: "json", value: cycle() } }] },
    { role: "tool", content: [throwing("output", { type: "tool-result" }), throwing("type", {})] },
  ];
}

/** Generates values that may be where something else should be. */
const arbitraryJunk: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(null, undefined, 0, -1, true, "", "text", Number.NaN),
  fc.jsonValue(),
  fc.constant([]),
  fc.constant([null]),
  fc.constantFrom("tool", "tool_result", "text", "function", "__proto__"),
  fc.constant(null).map(cycle),
  fc.constant(null).map(trap),
);

/**
 * Runs the promises that every wire keeps, on conversations in its format and on random damage to them. A failure
 * prints its seed. The fixtures are frozen, so that a wire that writes to a caller's object throws.
 */
export function testWire(
  wire: Wire,
  fixtures: readonly WireFixture[],
  { describe, it }: Runner,
  { numRuns = 200 }: SuiteOptions = {},
): void {
  deepFreeze(fixtures);
  const each = (body: (found: Found, fixture: WireFixture) => void) => {
    for (const fixture of fixtures) for (const found of readFixture(wire, fixture)) body(found, fixture);
  };
  const eachOurs = (body: (found: Found) => void) => each((found) => found.expected.fixed || body(found));
  const edited = ({ message, pair }: Found, edit: Omit<WireEdit, "at">) => {
    const written = wire.write(message, [{ at: pair.result.at, ...edit }]);
    const result = wire.read(written).results.find(({ at }) => at === pair.result.at);
    assert.ok(result !== undefined, "an edited result is a result still");
    return { written, result };
  };

  describe(`wire ${wire.name}`, () => {
    it("finds every result with its call, its error flag, its texts and its media", () => {
      each(({ expected, pair: { result, tool, callMessage, message } }) => {
        const { places: _places, json: _json, ...facts } = { media: 0, isError: false, fixed: false, ...expected };
        const { id, texts, media, isError, fixed } = result;
        assert.deepEqual({ message, id, tool, callMessage, texts, media: media.count, isError, fixed }, facts);
        assert.equal(media.bytes > 0, media.count > 0);
      });
    });

    it("reads a fixture without finding anything malformed", () => {
      for (const { messages } of fixtures) {
        for (const message of messages) {
          const view = wire.read(message);
          assertWellFormed(view);
          assert.equal(view.malformed, 0, JSON.stringify(message));
        }
      }
    });

    it("knows its format, and messages alone that hold calls or results", () => {
      for (const { messages, name } of fixtures) {
        assert.ok(wire.detect(messages) >= 0.5, name);
        for (const message of messages) {
          const { calls, results } = wire.read(message);
          if (calls.length + results.length > 0) assert.ok(wire.detect([message]) >= 0.3, JSON.stringify(message));
        }
      }
    });

    it("round trip: no edit, the same texts or an unknown place give the same object", () => {
      each(({ message, pair: { result } }) => {
        assert.equal(wire.write(message, []), message);
        assert.equal(wire.write(message, [{ at: result.at }]), message);
        assert.equal(wire.write(message, [{ at: result.at, texts: result.texts }]), message);
        assert.equal(wire.write(message, [{ at: "nowhere", texts: ["x"], mediaText: "y" }]), message);
      });
    });

    it("an edit changes one result's texts, each in its place, and nothing else", () => {
      eachOurs((found) => {
        const texts = found.expected.texts.map((_text, at) => `new ${at}`);
        const { written, result } = edited(found, { texts });
        assert.deepEqual(result, { ...asText(found.pair.result), texts });
        assert.deepEqual(outline(wire.read(written)), outline(found.view));
        assertSameOutside(found.message, written, found.expected.places);
      });
    });

    it("an edit undone gives the same bytes: fields in a result's content survive too", () => {
      eachOurs((found) => {
        if (found.expected.json) return;
        const { written } = edited(found, { texts: found.expected.texts.map(() => "other") });
        const undone = wire.write(written, [{ at: found.pair.result.at, texts: [...found.expected.texts] }]);
        assert.equal(JSON.stringify(undone), JSON.stringify(found.message));
      });
    });

    it("one text stands for all, media and cache breakpoints stay", () => {
      eachOurs((found) => {
        const { written, result } = edited(found, { texts: ["one for all"] });
        assert.deepEqual(
          result.texts.filter((text) => text !== ""),
          ["one for all"],
        );
        assert.deepEqual(result.media, found.pair.result.media);
        assertSameOutside(found.message, written, found.expected.places);
        const content = (root: unknown) => JSON.stringify(found.expected.places.map((place) => valueAt(root, place)));
        for (const mark of ["cache_control", "cacheControl"]) {
          if (content(found.message).includes(mark)) assert.ok(content(written).includes(mark), `${mark} lost`);
        }
      });
    });

    it("text stands in place of media when told so", () => {
      eachOurs((found) => {
        const { written, result } = edited(found, { mediaText: "[image]" });
        const said = result.texts.join("\n").split("[image]").length - 1;
        assert.deepEqual([result.media.count, said], [0, found.expected.media ?? 0]);
        assert.ok(found.expected.texts.every((text) => result.texts.join("\n").includes(text)));
        assertSameOutside(found.message, written, found.expected.places);
      });
    });

    it("text stands in place of media outside results too, and what media hold is told", () => {
      for (const message of fixtures.flatMap(({ messages }) => messages)) {
        const view = wire.read(message);
        for (const { count, tokens = 1, data } of [view.media, ...view.results.map(({ media }) => media)]) {
          assert.ok(count === 0 || tokens > 0);
          assert.equal(data?.length ?? count, count);
        }
        if (view.media.count === 0) continue;
        const now = wire.read(replaceMedia(message, "[image]"));
        assert.deepEqual([now.media.count, now.malformed], [0, view.malformed]);
        assert.deepEqual([now.results, now.calls], [view.results, view.calls]);
      }
    });

    it("what the provider ran is never changed", () => {
      each(({ expected, message, pair: { result } }) => {
        if (expected.fixed)
          assert.equal(wire.write(message, [{ at: result.at, texts: ["x"], mediaText: "y" }]), message);
      });
    });

    it("a long string in a call's input can be shown shorter: everything else stays, and the call is one still", () => {
      const long = `"long"\n\\ \u{1F600} ${"words of a call ".repeat(40)}`;
      for (const { messages } of fixtures) {
        for (const { message, path, call, index } of messages.flatMap((one) => findLong(wire, one, long))) {
          const { at, texts } = call.long;
          const written = wire.write(message, [{ at, texts: texts.map((text) => (text === long ? "short" : text)) }]);
          const view = wire.read(written);
          const now = view.calls[index];
          assert.deepEqual([now?.id, now?.tool, view.malformed], [call.id, call.tool, wire.read(message).malformed]);
          assertSameOutside(message, written, [path]);
          const held = valueAt(written, path);
          assert.equal(
            held,
            String(valueAt(message, path)).replace(call.long.isJson ? asJson(long) : long, () => {
              return call.long.isJson ? '"short"' : "short";
            }),
          );
          for (const odd of [{ at }, { at, texts }, { at, texts: [] }, { at, texts: [...texts, "more"] }])
            assert.equal(wire.write(message, [odd]), message);
        }
      }
    });

    it("pairs by occurrence: a conversation held twice, ids and all, pairs twice", () => {
      for (const { messages } of fixtures) {
        const once = pairResults(messages.map((message) => wire.read(message)));
        const twice = pairResults([...messages, ...messages].map((message) => wire.read(message)));
        const keyOf = ({ result, tool }: (typeof once)[number]) => result.id ?? tool;
        const moved = once.map((pair) => ({
          ...pair,
          message: pair.message + messages.length,
          callMessage: pair.callMessage === null ? null : pair.callMessage + messages.length,
          occurrence: pair.occurrence + once.filter((other) => keyOf(other) === keyOf(pair)).length,
        }));
        assert.deepEqual(twice, [...once, ...moved]);
      }
    });

    it("answers calls that got no result with a result of its own format, or not at all", () => {
      for (const { messages } of fixtures) {
        const made = messages.map((message) => wire.read(message)).flatMap((view) => view.calls);
        const calls = made.filter((call) => wire.missing([call], "none") !== null);
        const answers = missingMessages(wire, calls, "Error: no result.").map((message) => wire.read(message));
        const results = answers.flatMap((view) => view.results);
        assert.equal(results.length, calls.length);
        for (const [at, result] of results.entries()) {
          assert.deepEqual([result.id, result.texts], [calls[at]?.id ?? null, ["Error: no result."]]);
        }
        assert.ok(answers.every((view) => view.role === "result" && view.malformed === 0));
        assert.equal(wire.missing([], "none"), null);
      }
    });

    it("says a text as a user of its own format, or not at all", () => {
      const said = wire.say("Said\nby [us] \u{1F600}");
      if (said === null) return;
      const view = wire.read(said);
      assert.deepEqual([view.role, view.text, view.malformed], ["user", "Said\nby [us] \u{1F600}", 0]);
      assert.deepEqual([view.calls, view.results, view.moreTexts], [[], [], undefined]);
      assert.ok(wire.detect([said]) >= 0.3);
      for (const { messages, name } of fixtures) assert.ok(wire.detect([said, ...messages]) >= 0.5, name);
    });

    it("a number where content should be is counted and comes back", () => {
      eachOurs(({ message, expected, pair: { result } }) => {
        for (const junk of [7, true]) {
          const bad = putAt(message, expected.places[0] ?? [], junk);
          assert.ok(wire.read(bad).malformed > 0, JSON.stringify(bad));
          assert.equal(wire.write(bad, [{ at: result.at, texts: ["x"], mediaText: "y" }]), bad);
        }
      });
    });

    it("malformed messages pass through: nothing is thrown", () => {
      for (const message of hostileMessages()) {
        const view = wire.read(message);
        assertWellFormed(view);
        if (typeof message !== "object" || message === null) assert.equal(view.malformed, 1);
        if (view.results.length === 0) assert.equal(wire.write(message, [{ at: "0", texts: ["x"] }]), message);
        for (const { at } of view.results) wire.write(message, [{ at, texts: ["x"], mediaText: "y" }]);
        assert.ok(wire.detect([message]) <= 1);
      }
    });

    it("random damage: nothing is thrown, nothing outside results changes", () => {
      const cases = fixtures.flatMap(({ messages, results }) =>
        messages.map((message, at) => ({ message, places: results.filter((one) => one.message === at) })),
      );
      const damage = fc.constantFrom(...cases).chain(({ message, places }) =>
        fc.record({
          message: fc.constant(message),
          places: fc.constant(places.flatMap((one) => one.places)),
          path: fc.constantFrom(...pathsOf(message).filter((path) => path.length > 0)),
          junk: arbitraryJunk,
          text: fc.string(),
        }),
      );
      fc.assert(
        fc.property(damage, ({ message, places, path, junk, text }) => {
          const bad = putAt(message, path, junk);
          const view = wire.read(bad);
          assertWellFormed(view);
          const written = wire.write(
            bad,
            [...view.results, ...view.calls.flatMap(({ long }) => long ?? [])].map(({ at }) => {
              return { at, texts: [text], mediaText: text };
            }),
          );
          assert.deepEqual(outline(wire.read(written)), outline(view));
          // Damage may turn something else into a result. Its place is not known then.
          if (placesIn(view) !== placesIn(wire.read(message))) return;
          if (!places.some((place) => isOnWay(path, place) || isOnWay(place, path)) && isPlain(junk)) {
            assertSameOutside(bad, written, places);
          }
        }),
        { numRuns },
      );
    });
  });
}

/** A result that says words is no object. */
function asText({ json: _json, ...result }: WireResult): WireResult {
  return result;
}

function asJson(value: unknown): string {
  return JSON.stringify(value);
}

function placesIn({ results }: WireMessage): string {
  return results.map(({ at }) => at).join();
}

function isOnWay(path: Path, place: Path): boolean {
  return path.every((step, at) => step === place[at]);
}

function isPlain(junk: unknown): boolean {
  try {
    JSON.stringify(junk);
    return true;
  } catch {
    return false;
  }
}
