import { readFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, it, vi } from "vitest";
import { redactAll, redactChunks } from "../../../test/redact-chunks.ts";
import { secretSamples, serviceSamples } from "../../../test/secret-samples.ts";
import { seededRandom } from "../../../test/token-samples.ts";
import { compileRules } from "./compile-rules.ts";
import { defaultRules } from "./default-rules.ts";
import { useNativeHeads } from "./find-heads.ts";
import { startOf } from "./likely-secret.ts";
import { Replacer, startRedact } from "./redact.ts";
import type { RedactionRule } from "./redaction-rule.ts";
import { Window } from "./window.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const ALPHABETS: Record<string, string> = {
  "": "a1B2c3D4e5F6g7H8",
  " A": "A1B2C3D4E5F6G7H8",
  " a": "a1b2c3d4e5f6g7h8",
  " f": "0a1b2c3d4e5f6789",
  " F": "0A1B2C3D4E5F6789",
  " 0": "1029384756",
};
const STANDS_FOR = /<(\d+)( [AaFf0])?>/g;
/** A row's text with the random characters it stands for. */
const spelled = (text: string) =>
  text.replace(STANDS_FOR, (_, count, kind = "") => (ALPHABETS[kind] as string).repeat(20).slice(0, Number(count)));
const everyByte = (bytes: Uint8Array) => Array.from(bytes.keys());

describe.each(
  secretSamples.map((row, index) => [`${index + 1} ${row[0]}`, row, defaultRules[index] as RedactionRule] as const),
)("rule %s", (_, [name, sample, nearMiss], rule) => {
  it("replaces its sample, by itself and among the others", () => {
    const bytes = encode(`x ${spelled(sample)} y`);
    for (const rules of [[rule], defaultRules]) {
      const { text, count } = redactAll(rules, bytes);
      expect(text).toContain(`[redacted:${name}]`);
      expect(count).toBe(1);
      for (const [part] of sample.matchAll(STANDS_FOR)) expect(text).not.toContain(spelled(part));
      expect(redactChunks(rules, bytes, everyByte(bytes)).text).toBe(text);
    }
  });

  it("leaves its near miss alone", () => {
    const text = `x ${spelled(nearMiss)} y`;
    expect(redactAll([rule], encode(text))).toEqual({ text, count: 0, bytes: 0 });
  });
});

it.each(serviceSamples)("of a service: %s is replaced, %s is not", (sample, nearMiss) => {
  const { text } = redactAll(defaultRules, encode(`x ${spelled(sample)} y`));
  expect(text).toContain("[redacted:");
  for (const [part] of sample.matchAll(STANDS_FOR)) expect(text).not.toContain(spelled(part));
  const left = `x ${spelled(nearMiss)} y`;
  expect(redactAll(defaultRules, encode(left)).text).toBe(left);
});

it("of two secrets side by side with nothing between them, none is left", () => {
  const whole = secretSamples
    .map(([, sample]) => spelled(sample))
    .filter((sample) => /^x \[redacted:[a-z0-9-]+\] y$/.test(redactAll(defaultRules, encode(`x ${sample} y`)).text));
  expect(whole.length).toBeGreaterThan(150);
  const left = whole.flatMap((one) =>
    whole
      .map((other) => redactAll(defaultRules, encode(`x ${one}${other} y`)).text)
      .filter((text) => !/^x (\[redacted:[a-z0-9-]+\]){1,2} y$/.test(text)),
  );
  expect(left).toEqual([]);
});

it("every rule has a sample and a near miss, in the order of the rules", () => {
  expect(secretSamples.map(([name]) => name)).toEqual(defaultRules.map(({ name }) => name));
});

describe("what stands for itself", () => {
  const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  const random = seededRandom(20_26);
  const text = (alphabet: string, count: number) =>
    Array.from({ length: count }, () => alphabet[Math.floor(random() * alphabet.length)]).join("");
  const hex = (count: number) => text("0123456789abcdef", count);
  const base64 = (count: number, pad: string) => text(`${LETTERS}+/`, count) + pad;
  const uuid = () => [hex(8), hex(4), `4${hex(3)}`, hex(4), hex(12)].join("-");
  const KINDS: Record<string, () => string> = {
    "a commit": () => `commit ${hex(40)}`,
    "an md5": () => `${hex(32)}  file.tar.gz`,
    "a sha256": () => `sha256:${hex(64)}`,
    "a sha512 in capitals": () => hex(128).toUpperCase(),
    "a uuid": () => `id=${uuid()}`,
    "a uuid in capitals": () => uuid().toUpperCase(),
    "the integrity of a package": () => `"integrity": "sha512-${base64(86, "==")}"`,
    "a digest in base64": () => `${base64(43, "=")} ${base64(27, "=")}`,
    "a wheel's record": () => `pip/version.py,sha256=${text(`${LETTERS}_-`, 43)},160`,
    "a go.sum": () => `golang.org/x/net v0.1.0 h1:${base64(43, "=")}`,
    "an image by digest": () => `registry.example/app_prod_${hex(40)}@sha256:${hex(64)}`,
    "a cache key": () => `cache-key: node-modules-${hex(64)} etag "${hex(32)}"`,
    "a test's name": () =>
      `test_${text("abcdefghij", 12)}Works${text("ABCDEFGHIJ", 1)}${text("abcdefghij", 14)} PASSED`,
    "an object's id": () => `_id: ObjectId("${hex(24)}") span=${hex(16)} trace=${hex(32)}`,
  };

  it.each(Object.keys(KINDS))("leaves 3,000 times %s alone", (kind) => {
    const lines = Array.from({ length: 3000 }, KINDS[kind] as () => string).join("\n");
    expect(redactAll(defaultRules, encode(lines))).toEqual({ text: lines, count: 0, bytes: 0 });
  });

  it("leaves this project's lock file alone", () => {
    const lock = readFileSync(new URL("../../../package-lock.json", import.meta.url));
    expect(redactAll(defaultRules, lock).count).toBe(0);
  });
});

it("the guide names every rule, and no other", () => {
  const guide = readFileSync(new URL("../../../docs/guide/redaction.md", import.meta.url), "utf8");
  const table = /## What is known\n([\s\S]*?)\n## /.exec(guide)?.[1] ?? "";
  const cells = table.split("\n").flatMap((line) => /^\| (`.*?) \|/.exec(line)?.[1] ?? []);
  const named = cells.flatMap((cell) => Array.from(cell.matchAll(/`([^`]+)`/g), ([, name]) => name));
  expect(named.toSorted()).toEqual([...new Set(defaultRules.map(({ name }) => name))].toSorted());
});

describe("the work of redaction", () => {
  afterEach(() => {
    vi.restoreAllMocks();
    useNativeHeads(true);
  });

  /** How often the bytes of a stream are read, for each of them. */
  function readsPerByte(text: string, chunkBytes: number, rules = defaultRules): number {
    let reads = 0;
    const append = Window.prototype.append;
    vi.spyOn(Window.prototype, "append").mockImplementation(function (this: Window, chunk) {
      append.call(this, chunk);
      this.bytes = new Proxy(this.bytes, {
        get(target, key) {
          const value: unknown = Reflect.get(target, key);
          if (typeof value === "number") reads++;
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
    });
    const bytes = encode(text);
    const redact = startRedact(rules, () => {});
    for (let at = 0; at < bytes.length; at += chunkBytes) redact.add(bytes.subarray(at, at + chunkBytes));
    redact.end();
    vi.restoreAllMocks();
    return reads / bytes.length;
  }

  /** What makes a rule look far, or look again. */
  const FILLERS = ["", "a1", " ", "-", "\\", '\\"', "'", "=", ",b", ":@", "\n"];
  const OTHER_STARTS = [
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq3MIIEpAIBAAKCAQEA7bq3 ",
    "eyJabcdefghij01.abcdefghij01.",
    "password='",
    'password="',
    '\\"token\\":\\"',
    "token=",
    "https://a",
    "-us1",
    "JQQJ99",
    ".atlasv1.",
  ];
  const BYTES = 1500;
  /** A look reads a bounded number of bytes, or goes on where the last one stopped; 67 is the most seen. */
  const MOST_READS = 70;
  const starts = secretSamples.map(([, sample]) => sample.replace(/<.*/s, "")).filter((start) => start !== "");

  it.each([...new Set([...starts, ...OTHER_STARTS])])("is linear, whatever follows %j, in any chunks", (start) => {
    for (const filler of FILLERS) {
      const often = (start + filler).repeat(BYTES / (start.length + filler.length));
      const once = start + filler.repeat(BYTES / Math.max(1, filler.length));
      for (const chunkBytes of [BYTES * 2, 7]) {
        expect(readsPerByte(often, chunkBytes), `${filler} often, by ${chunkBytes}`).toBeLessThan(MOST_READS);
        if (filler !== "")
          expect(readsPerByte(once, chunkBytes), `${filler} after it, by ${chunkBytes}`).toBeLessThan(MOST_READS);
      }
    }
  });

  it("is linear where a rule of one's own begins at every byte", () => {
    const rules = compileRules([{ name: "number", pattern: "\\b[0-9;]{6,}x" }]);
    expect(readsPerByte("12;3".repeat(BYTES), 100_000, rules)).toBeLessThan(MOST_READS);
  });

  it("reads a value as text in its first bytes only", () => {
    expect(startOf(encode("x".repeat(1000)), 10, 1000)).toBe("x".repeat(96));
  });

  /** The longest list that a replacer holds after any of these chunks. */
  function longestLists(rules: readonly RedactionRule[], chunks: readonly Uint8Array[]): number[] {
    let most = 0;
    const drop = Replacer.prototype.drop;
    vi.spyOn(Replacer.prototype, "drop").mockImplementation(function (this: Replacer, count) {
      drop.call(this, count);
      for (const held of Object.values(this)) if (Array.isArray(held)) most = Math.max(most, held.length);
    });
    const redact = startRedact(rules, () => {});
    const longest = chunks.map((chunk) => {
      redact.add(chunk);
      return most;
    });
    redact.end();
    return longest;
  }

  it("holds a find once, however often its place is looked at", () => {
    const rules = compileRules([
      { name: "short", pattern: "abcd[0-9]{4}" },
      { name: "long", pattern: "abcd[0-9]{4}[a-z]+!" },
    ]);
    const bytes = encode(`abcd1234${"x".repeat(500)}`);
    const chunks = Array.from(bytes, (byte) => Uint8Array.of(byte));
    expect(longestLists(rules, chunks).at(-1)).toBe(1);
  });

  it.each([`${"Q".repeat(64)}\n`, `${"Q1".repeat(20)}\n\n`, "password=a1b2c3d4e5\n", "sk-", "://a:b@", "Q".repeat(99)])(
    "holds no list that grows with what follows a key's first line: %j",
    (line) => {
      const chunk = encode(line.repeat(10_000 / line.length));
      const chunks = [encode("-----BEGIN PRIVATE KEY-----\n"), ...Array.from({ length: 50 }, () => chunk)];
      const longest = longestLists(defaultRules, chunks);
      expect(longest.at(-1)).toBe(longest[5]);
    },
  );

  it("holds no more of an output whose pieces all end inside of what may be a secret", () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const heldBytes = () => {
      collect();
      return process.memoryUsage().heapUsed;
    };
    const text = "://user:pass@host ".repeat(4000);
    const chunk = encode(text.slice(11) + text.slice(0, 11));
    const redact = startRedact(defaultRules, () => {});
    redact.add(chunk);
    const before = heldBytes();
    for (let count = 0; count < 200; count++) redact.add(chunk);
    // Eight bytes for each place at which a secret could begin would be more.
    expect(heldBytes() - before).toBeLessThan(200 * 4000 * 8);
    redact.end();
  });
});
