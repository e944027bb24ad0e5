import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fc from "fast-check";
import type { Artifact, ArtifactAbout, Store } from "../contract/store.ts";
import { arbitraryOutput, chunked, lent } from "./arbitrary.ts";
import type { Runner, SuiteOptions } from "./test-strategy.ts";

// The samples and comparisons of testStore.

/** The facts of an artifact for tests in which they do not matter. */
export const ABOUT: ArtifactAbout = {
  scope: "local",
  session: "s1",
  tool: "run_command",
  call: "c1",
  command: "npm test",
  folder: "/home/me/project",
};

/** Ids that no store gave: other forms, other paths, other queries. */
const HOSTILE_IDS = [
  "",
  "aaaaaaaaaaaa",
  "aaaaaa",
  "AAAAAAAAAAAA",
  "aaaaaaaaaaaaa",
  "aaaaaaaaaaa%",
  "____________",
  "../../secret",
  "/etc/passwd",
  "..\\..\\secret",
  "aaaaaaaaaaa\0",
  "aaaaaaaaaaaa\n",
  "' or 1=1 --",
  "%2e%2e%2f",
  "\ud800",
  "a".repeat(100_000),
];

/** A pattern, and the size to which it is repeated. It is short to print, whatever the size. */
interface Sample {
  pattern: Uint8Array;
  bytes: number | null;
}

/**
 * Generates samples. Most are like the outputs of tools. Some are over the sizes at which a store keeps artifacts in
 * another way.
 */
const sample: fc.Arbitrary<Sample> = fc.record({
  pattern: fc.oneof(
    { weight: 5, arbitrary: arbitraryOutput },
    { weight: 1, arbitrary: fc.constantFrom("", "\n", "\r\n", "x", "\n\n\n", "a\r\nb\rc\n").map(text) },
  ),
  bytes: fc.oneof(
    { weight: 2, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constantFrom(65_535, 65_536, 65_537, 131_072, 262_143, 262_145, 400_000) },
  ),
});

function outputOf({ pattern, bytes }: Sample): Uint8Array {
  return bytes === null || pattern.length === 0 ? pattern : large(pattern, bytes);
}

/** Returns the bytes of a text. */
export function text(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}

/** Repeats a pattern until it is over the size at which stores keep artifacts in another way. */
export function large(pattern: Uint8Array, bytes = 300_001): Uint8Array {
  return Uint8Array.from({ length: bytes }, (_none, at) => pattern[at % pattern.length] ?? 0);
}

/** Saves chunks as one artifact. Overwrites each chunk after the writer has taken it. */
export async function keep(store: Store, chunks: Uint8Array[], about: ArtifactAbout = ABOUT): Promise<Artifact> {
  const writer = await store.begin(about);
  for (const chunk of lent(chunks)) await writer.add(chunk);
  return writer.end();
}

async function ids(store: Store, query: Parameters<Store["list"]>[0]): Promise<string[]> {
  return (await store.list(query)).map(({ id }) => id);
}

/** Asserts that a reader in this scope learns nothing about this id. */
async function assertUnknown(store: Store, id: string, scope: string): Promise<void> {
  assert.equal(await store.find(id, scope), null, `found ${JSON.stringify(id.slice(0, 40))}`);
  assert.equal((await store.hold?.(id, scope)) ?? null, null);
  assert.equal(await store.read(id, scope, { from: 0, to: 10 }), null);
  assert.equal(await store.locate(id, scope, [1, 2]), null);
  assert.equal(await store.file(id, scope), null);
  assert.equal(await store.remove(id, scope), false);
}

/** Compares bytes without assert's own comparison, because a difference in a large array takes minutes to print. */
export function assertBytes(found: Uint8Array | null, truth: Uint8Array): void {
  assert.ok(found !== null, "no bytes");
  assert.equal(found.length, truth.length);
  const at = found.findIndex((byte, index) => byte !== truth[index]);
  assert.equal(at, -1, `first difference at byte ${at}`);
}

/** Returns where each line begins. Reads byte by byte. */
function lineStarts(bytes: Uint8Array): number[] {
  const starts: number[] = [];
  let isStart = true;
  for (const [at, byte] of bytes.entries()) {
    if (isStart) starts.push(at);
    isStart = byte === 10;
  }
  return starts;
}

/** Checks that `keepNow` saves the same as a writer does. */
async function checkKeepNow(store: Store): Promise<void> {
  for (const bytes of store.keepNow === undefined ? [] : [text("now\n"), large(text("now, large\n"))]) {
    let kept: Artifact | undefined;
    for (const given of lent([bytes])) kept = store.keepNow?.(ABOUT, given, { count: 1, bytes: 3 });
    assertBytes(await store.read(kept?.id ?? "", "local", { from: 0, to: bytes.length }), bytes);
    assert.equal((await keep(store, [bytes])).id, kept?.id);
  }
}

/** Checks that a reader may change the bytes that it read without changing what is saved. */
async function checkOwnBytes(store: Store): Promise<void> {
  for (const bytes of [text("small\n"), large(text("large\n"))]) {
    const { id } = await keep(store, [bytes]);
    const range = { from: 0, to: bytes.length };
    (await store.read(id, "local", range))?.fill(0);
    assertBytes(await store.read(id, "local", range), bytes);
    const held = (await store.hold?.(id, "local")) ?? null;
    (await held?.read(range))?.fill(0);
    if (held !== null) assertBytes(await held.read(range), bytes);
    await held?.close();
  }
}

/** Checks that a store names a plain file only if it holds exactly the artifact's bytes. */
async function checkPlainFile(store: Store): Promise<void> {
  const { readFile } = await import("node:fs/promises");
  for (const bytes of [text("small\n"), large(text("line\n"))]) {
    const { id } = await keep(store, [bytes]);
    const path = await store.file(id, "local");
    if (path !== null) assertBytes(await readFile(path), bytes);
    assert.equal(await store.file(id, "other"), null);
  }
}

/**
 * Runs the promises that every store keeps. `makeStore` returns a new, empty store each time. A failure prints its
 * seed.
 */
export function testStore(
  makeStore: () => Promise<Store> | Store,
  { describe, it }: Runner,
  { numRuns = 40 }: SuiteOptions = {},
): void {
  const withStore = (body: (store: Store) => Promise<void>) => async () => {
    const store = await makeStore();
    await body(store).finally(() => store.close());
  };

  describe("store", () => {
    it(
      "keeps every byte, however it was chunked, and says what it kept",
      withStore(async (store) => {
        await fc.assert(
          fc.asyncProperty(sample, fc.array(fc.nat(), { maxLength: 12 }), async (given, cuts) => {
            const output = outputOf(given);
            const artifact = await keep(store, chunked(output, cuts));
            const { id, createdAtMs, ...rest } = artifact;
            assert.match(id, /^[a-z2-7]{12}$/);
            assert.ok(Math.abs(createdAtMs - Date.now()) < 3_600_000, `created at ${createdAtMs}`);
            const sha256 = createHash("sha256").update(output).digest("hex");
            const facts = { bytes: output.length, lines: lineStarts(output).length, sha256, saved: "yes" };
            assert.deepEqual(rest, { ...ABOUT, ...facts, exitCode: null, redactions: { count: 0, bytes: 0 } });
            assert.deepEqual(await store.find(id, "local"), artifact);
            assertBytes(await store.read(id, "local", { from: 0, to: output.length }), output);
          }),
          { numRuns },
        );
      }),
    );

    it(
      "reads any range, clipped to the artifact",
      withStore(async (store) => {
        const place = fc.oneof(fc.integer({ min: -5, max: 700 }), fc.integer({ min: -5, max: 600_000 }));
        await fc.assert(
          fc.asyncProperty(sample, fc.array(fc.tuple(place, place), { maxLength: 8 }), async (given, ranges) => {
            const output = outputOf(given);
            const { id } = await keep(store, [output]);
            for (const [from, to] of ranges) {
              const truth = output.slice(Math.max(0, from), Math.max(0, from, to));
              assertBytes(await store.read(id, "local", { from, to }), truth);
            }
            const held = await store.hold?.(id, "local");
            for (const [from, to] of held ? ranges : []) {
              assertBytes(
                (await held?.read({ from, to })) ?? null,
                output.slice(Math.max(0, from), Math.max(0, from, to)),
              );
            }
            await held?.close();
          }),
          { numRuns },
        );
      }),
    );

    it(
      "finds any lines, breaks included, as a second implementation does",
      withStore(async (store) => {
        const line = fc.integer({ min: -2, max: 80 });
        await fc.assert(
          fc.asyncProperty(sample, fc.array(fc.tuple(line, line), { maxLength: 8 }), async (given, asked) => {
            const output = outputOf(given);
            const { id, lines } = await keep(store, [output]);
            const starts = [...lineStarts(output), output.length];
            const far: [number, number][] = [
              [1, lines],
              [lines, lines],
              [lines >> 1, (lines >> 1) + 3],
              [lines + 1, lines + 9],
            ];
            for (const [first, last] of [...asked, ...far]) {
              const from = starts[Math.min(Math.max(1, first), lines + 1) - 1] ?? 0;
              const to = starts[Math.min(Math.max(0, last), lines)] ?? 0;
              const found = await store.locate(id, "local", [first, last]);
              assert.deepEqual(found, { from, to: Math.max(from, to) }, `lines ${first}-${last} of ${lines}`);
            }
          }),
          { numRuns },
        );
      }),
    );

    it(
      "gives the same bytes the same id, other bytes another",
      withStore(async (store) => {
        const first = await keep(store, [text("same")]);
        const again = await keep(store, [text("sa"), text("me")], { ...ABOUT, session: "s2", call: "c2" });
        const other = await keep(store, [text("other")]);
        assert.equal(again.id, first.id);
        assert.notEqual(other.id, first.id);
        assert.deepEqual(await ids(store, { scope: "local" }), [other.id, first.id, first.id]);
        for (const session of ["s1", "s2"]) {
          assert.ok((await ids(store, { scope: "local", session })).includes(first.id), `not in ${session}`);
        }
      }),
    );

    it(
      "lists the same bytes under each session that saved them, as it saved them",
      withStore(async (store) => {
        for (const bytes of [text("same\n"), large(text("same, large\n"))]) {
          const save = async (session: string | null, command: string, exitCode: number | null) => {
            const call = `call of ${session}`;
            const writer = await store.begin({
              ...ABOUT,
              session,
              call,
              tool: `${session}`,
              command,
              folder: `/${command}`,
            });
            await writer.add(bytes);
            return writer.end(undefined, exitCode);
          };
          await save("s1", "make", 2);
          await save("s2", "make check", 0);
          const last = await save(null, "cat log", null);
          const first = await save("s1", "make again", -1);
          assert.deepEqual(await store.find(first.id, "local"), first);
          const { command, folder, exitCode, tool, call } = first;
          assert.deepEqual(
            { command, folder, exitCode },
            { command: "make again", folder: "/make again", exitCode: -1 },
          );
          assert.deepEqual({ tool, call }, { tool: "s1", call: "call of s1" });
          const [of2, ...more] = await store.list({ scope: "local", session: "s2" });
          assert.deepEqual(more, []);
          assert.deepEqual(of2, { ...first, ...pick(of2) });
          assert.deepEqual(pick(of2), { ...pick(of2), session: "s2", command: "make check", exitCode: 0, tool: "s2" });
          const all = await store.list({ scope: "local" });
          assert.deepEqual(
            all.map(({ session }) => session),
            ["s1", null, "s2"],
          );
          assert.deepEqual(all[1], last);
          await store.remove(first.id, "local");
          assert.deepEqual(await ids(store, { scope: "local" }), []);
        }
      }),
    );

    it(
      "keeps what made an output when the same tool saves it again without it, and not for another tool",
      withStore(async (store) => {
        const save = async (tool: string, made: Pick<ArtifactAbout, "command" | "folder">, exitCode?: number) => {
          const writer = await store.begin({ ...ABOUT, tool, command: null, folder: null, ...made });
          await writer.add(text("made once\n"));
          const { id } = await writer.end(undefined, exitCode);
          const { command, folder, exitCode: exit } = (await store.find(id, "local")) as Artifact;
          return [command, folder, exit];
        };
        const made = { command: "make", folder: "/src" };
        assert.deepEqual(await save("bash", made, 2), ["make", "/src", 2]);
        assert.deepEqual(await save("bash", {}), ["make", "/src", 2]);
        assert.deepEqual(await save("bash", { command: "make again" }, 0), ["make again", "/src", 0]);
        assert.deepEqual(await save("read", {}), [null, null, null]);
      }),
    );

    it(
      "keeps scopes apart: the same bytes have two ids, and neither reader learns of the other",
      withStore(async (store) => {
        for (const bytes of [text("shared secret\n"), large(text("shared and large\n"))]) {
          const mine = await keep(store, [bytes], { ...ABOUT, scope: "mine" });
          const theirs = await keep(store, [bytes], { ...ABOUT, scope: "theirs" });
          assert.notEqual(mine.id, theirs.id);
          await assertUnknown(store, mine.id, "theirs");
          await assertUnknown(store, theirs.id, "mine");
          await assertUnknown(store, mine.id, "");
          assert.ok(!(await ids(store, { scope: "mine", session: "s1" })).includes(theirs.id));
          assert.equal(await store.remove(mine.id, "mine"), true);
          assertBytes(await store.read(theirs.id, "theirs", { from: 0, to: bytes.length }), bytes);
        }
      }),
    );

    it(
      "knows no id that it did not give",
      withStore(async (store) => {
        const { id } = await keep(store, [text("here")]);
        for (const hostile of [...HOSTILE_IDS, id.slice(0, 6), id.toUpperCase(), `${id}.idx`, `./${id}`, `${id} `]) {
          await assertUnknown(store, hostile, "local");
        }
        assert.notEqual(await store.find(id, "local"), null);
      }),
    );

    it(
      "takes any name for scope, session, tool and call",
      withStore(async (store) => {
        const names = [
          "../../x",
          "a\0b",
          "a\0c",
          "\ud800",
          "\ud801",
          "' or 1=1 --",
          "x".repeat(10_000),
          "\n",
          "日本語",
        ];
        const seen = new Set<string>();
        for (const name of names) {
          const about = { scope: name, session: name, tool: name, call: name, command: name, folder: name };
          const { id, command } = await keep(store, [text("same bytes")], about);
          assert.ok(command !== null && command.length <= 1000, "a command is kept up to 1,000 characters");
          assert.ok(!seen.has(id), `two scopes became one: ${JSON.stringify(name)}`);
          seen.add(id);
          assert.notEqual(await store.find(id, name), null);
          assert.deepEqual(await ids(store, { scope: name, session: name }), [id]);
        }
      }),
    );

    it(
      "shows nothing of an artifact before its end, and nothing at all of an abandoned one",
      withStore(async (store) => {
        for (const bytes of [text("small\n"), large(text("large\n"))]) {
          const known = await keep(store, [bytes]);
          await store.remove(known.id, "local");
          const writer = await store.begin(ABOUT);
          await writer.add(bytes);
          await assertUnknown(store, known.id, "local");
          assert.deepEqual(await ids(store, { scope: "local" }), []);
          await writer.abandon();
          await writer.abandon();
          await assertUnknown(store, known.id, "local");
        }
      }),
    );

    it(
      "takes writers of the same and of different bytes at once",
      withStore(async (store) => {
        const outputs = Array.from({ length: 24 }, (_none, at) =>
          at % 3 === 0 ? large(text(`large ${at % 4}\n`)) : text(`small ${at % 4}\n`),
        );
        const kept = await Promise.all(
          outputs.map((output, at) =>
            keep(store, chunked(output, [7, 70_000, at * 1000]), { ...ABOUT, call: `c${at}` }),
          ),
        );
        const byHash = new Map(kept.map(({ sha256, id }) => [sha256, id]));
        for (const [at, { id, sha256 }] of kept.entries()) {
          assert.equal(byHash.get(sha256), id);
          const output = outputs[at] ?? new Uint8Array();
          assertBytes(await store.read(id, "local", { from: 0, to: output.length }), output);
        }
        assert.equal((await ids(store, { scope: "local" })).length, new Set(byHash.values()).size);
      }),
    );

    it(
      "copies what it is given: a buffer may be used again once add has resolved",
      withStore(async (store) => {
        const writer = await store.begin(ABOUT);
        // Uses a Buffer, because the slice() of a Buffer does not copy.
        const buffer = Buffer.alloc(50_000);
        for (let round = 1; round <= 40; round += 1) {
          buffer.fill(64 + round);
          await writer.add(buffer);
        }
        buffer.fill(0);
        const { id } = await writer.end();
        const bytes = await store.read(id, "local", { from: 0, to: 2_000_000 });
        assert.ok(bytes?.every((byte, at) => byte === 65 + Math.floor(at / 50_000)));
      }),
    );

    it(
      "lists newest first, page by page, each once",
      withStore(async (store) => {
        const order: string[] = [];
        for (let at = 0; at < 23; at += 1) {
          const about = { ...ABOUT, session: at % 2 === 0 ? "even" : "odd" };
          order.unshift((await keep(store, [text(`artifact ${at}`)], about)).id);
        }
        const pages: string[] = [];
        for (let beforeMs: number | undefined; ; ) {
          const page: Artifact[] = await store.list({ scope: "local", max: 5, ...(beforeMs && { beforeMs }) });
          pages.push(...page.map(({ id }) => id));
          beforeMs = page.at(-1)?.createdAtMs;
          if (page.length < 5) break;
        }
        assert.deepEqual(pages, order);
        assert.deepEqual(
          await ids(store, { scope: "local", session: "odd" }),
          order.filter((_id, at) => at % 2 === 1),
        );
        assert.deepEqual(await ids(store, { scope: "local", session: "none" }), []);
        assert.deepEqual(await ids(store, { scope: "local", max: 0 }), []);
      }),
    );

    it(
      "removes what it is told to, once, and takes it again",
      withStore(async (store) => {
        for (const bytes of [text("to go\n"), large(text("to go, large\n")), new Uint8Array()]) {
          const { id } = await keep(store, [bytes]);
          assert.equal(await store.remove(id, "local"), true);
          assert.equal(await store.remove(id, "local"), false);
          await assertUnknown(store, id, "local");
          assert.equal((await keep(store, [bytes])).id, id);
          assertBytes(await store.read(id, "local", { from: 0, to: bytes.length }), bytes);
        }
      }),
    );

    it(
      "keeps the count of redactions",
      withStore(async (store) => {
        const writer = await store.begin(ABOUT);
        await writer.add(text("key=[redacted]"));
        const { id, redactions } = await writer.end({ count: 2, bytes: 33 });
        assert.deepEqual(redactions, { count: 2, bytes: 33 });
        assert.deepEqual((await store.find(id, "local"))?.redactions, redactions);
      }),
    );

    it("keeps without waiting, where it can, what waiting keeps", withStore(checkKeepNow));

    it("gives a reader bytes of its own: changing them changes nothing that is kept", withStore(checkOwnBytes));

    it("gives a plain file only if it holds exactly the artifact's bytes", withStore(checkPlainFile));
  });
}

/** Returns what is known of how an artifact was saved. */
function pick(artifact: Artifact | undefined): Partial<Artifact> {
  const { session, tool, call, command, folder, exitCode, createdAtMs } = artifact ?? ({} as Partial<Artifact>);
  return { session, tool, call, command, folder, exitCode, createdAtMs } as Partial<Artifact>;
}
