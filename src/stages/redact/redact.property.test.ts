import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { redactAll, redactChunks } from "../../../test/redact-chunks.ts";
import { defaultRules } from "./default-rules.ts";

const LOWER = "abcdefghijklmnopqrstuvwxyz";
const UPPER = LOWER.toUpperCase();
const DIGITS = "0123456789";
const LETTERS = LOWER + UPPER + DIGITS;
const URL_SAFE = `${LETTERS}_-`;
const BASE64 = `${LETTERS}+/`;
const HEX = "0123456789abcdef";

const chars = (from: string, minLength: number, maxLength = minLength) =>
  fc.string({ unit: fc.constantFrom(...from), minLength, maxLength });
/** Random text that has a digit, as all but a few of a real key's would. */
const random = (from: string, minLength: number, maxLength = minLength) =>
  fc.tuple(chars(from, minLength - 2, maxLength - 2), fc.constantFrom("7x", "x7")).map((parts) => parts.join(""));

interface Secret {
  /** As it stands in the output. */
  text: string;
  /** What must not be left, not even in part. */
  hidden: string;
}
const whole = (text: string): Secret => ({ text, hidden: text });
const after = (before: string, hidden: string, behind = ""): Secret => ({ text: before + hidden + behind, hidden });
const prefixed = (prefix: string, from: string, min: number, max = min) =>
  random(from, min, max).map((body): Secret => ({ text: prefix + body, hidden: body }));

const SHAPES: Record<string, fc.Arbitrary<Secret>> = {
  "aws-access-key-id": chars(UPPER + DIGITS, 16).map((body) => after("AKIA", body)),
  "aws-secret-key": chars(BASE64, 40).map((body) => after("aws_secret_access_key = ", body)),
  "github-token": fc.constantFrom("p", "o", "u", "s", "r").chain((kind) => prefixed(`gh${kind}_`, LETTERS, 36, 255)),
  "github-token (fine-grained)": prefixed("github_pat_", `${LETTERS}_`, 82),
  "gitlab-token": prefixed("glpat-", URL_SAFE, 20, 40),
  "slack-token": fc.constantFrom("b", "p", "a", "r").chain((kind) => prefixed(`xox${kind}-`, `${LETTERS}-`, 24, 72)),
  "slack-webhook": random(LETTERS, 24).map((body) => after("https://hooks.slack.com/services/T0001/B0001/", body)),
  "openai-key": prefixed("sk-", LETTERS, 48),
  "openai-key (project)": prefixed("sk-proj-", URL_SAFE, 60, 160),
  "anthropic-key": prefixed("sk-ant-api03-", URL_SAFE, 95),
  "google-api-key": prefixed("AIza", URL_SAFE, 35),
  "google-oauth-secret": prefixed("GOCSPX-", URL_SAFE, 28),
  "stripe-key": fc.constantFrom("s", "r").chain((kind) => prefixed(`${kind}k_live_`, LETTERS, 24, 99)),
  "twilio-key": prefixed("SK", HEX, 32).map(({ text }) => whole(text.replace("x", "a"))),
  "sendgrid-key": fc.tuple(chars(URL_SAFE, 22), chars(URL_SAFE, 43)).map(([id, key]) => after(`SG.${id}.`, key)),
  "npm-token": prefixed("npm_", LETTERS, 36),
  "pypi-token": prefixed("pypi-AgEIcHlwaS5vcmc", URL_SAFE, 100, 180),
  "hugging-face-token": prefixed("hf_", LETTERS, 34),
  "digitalocean-token": chars(HEX, 64).map((body) => after("dop_v1_", body)),
  "azure-storage-key": chars(BASE64, 86).map((body) => after("AccountName=x;AccountKey=", `${body}==`)),
  jwt: fc
    .tuple(chars(URL_SAFE, 30), chars(URL_SAFE, 30, 3000), chars(URL_SAFE, 43))
    .map(([head, body, sign]) => after("", `eyJ${head}.eyJ${body}.${sign}`)),
  authorization: fc
    .tuple(fc.constantFrom("Bearer", "Basic", "bearer"), random(BASE64, 24, 60))
    .map(([scheme, body]) => after(`Authorization: ${scheme} `, body)),
  "url-password": random(`${LETTERS}!$@*`, 6, 30).map((body) =>
    after("postgres://admin:", `z${body}`, "@db.local:5432/x"),
  ),
};

const NAMES = fc.constantFrom(
  "password",
  "DB_PASSWORD",
  "api_key",
  "apiKey",
  "client_secret",
  "ACCESS_TOKEN",
  "secretKey",
);
const VALUES = random(LETTERS, 14, 60).map((body) => `a1${body}`);
/** Notations in which a name is given a value. */
const NOTATIONS: ((name: string, value: string) => Secret)[] = [
  (name, value) => after(`${name}=`, value),
  (name, value) => after(`export ${name}="`, value, '"'),
  (name, value) => after(`${name}: `, value),
  (name, value) => after(`{"${name}": "`, value, '", "x": 1}'),
  (name, value) => after(`{\\"${name}\\":\\"`, value, '\\"}'),
  (name, value) => after(`config['${name}'] = '`, value, "'"),
  (name, value) => after(`:${name}=>"`, value, '"'),
  (name, value) => after(`https://host/x?a=b&${name}=`, value, "&c=d"),
  (name, value) => after(`<${name}>`, value, `</${name}>`),
  (name, value) => after(`tool --${name} `, value, " --verbose"),
  (name, value) => after(`Server=x;${name}=`, value, ";Port=1"),
  (name, value) => after(`\x1b[32m${name}\x1b[0m: "${name}=`, value, '"'),
];
SHAPES["assigned-secret"] = fc
  .tuple(fc.constantFrom(...NOTATIONS), NAMES, VALUES)
  .map(([notation, name, value]) => notation(name, value));

/** Where a secret may stand: nothing of these is part of it. */
const CONTEXTS: ((text: string) => string)[] = [
  (text) => text,
  (text) => `2024-05-01T10:00:00Z INFO found ${text} in the log`,
  (text) => `{"message":"got ${JSON.stringify(text).slice(1, -1)}"}`,
  (text) => `line one\\n${text}\\nline three`,
  (text) => `key: '${text}'\r\nnext: 1`,
  (text) => `\x1b[1;31m${text}\x1b[0m`,
  (text) => `\u00e9\u4e2d ${text} \u{1f600}`,
  (text) => `(${text})`,
  (text) => `${text}\n${text}\n\n`,
];

const planted = fc
  .tuple(fc.constantFrom(...Object.keys(SHAPES)), fc.constantFrom(...CONTEXTS))
  .chain(([name, context]) =>
    (SHAPES[name] as fc.Arbitrary<Secret>).map((secret) => ({
      name,
      hidden: secret.hidden,
      text: context(secret.text),
    })),
  );

const LEFT_BYTES = 6;

function leftOf(hidden: string, output: string): string | null {
  for (let at = 0; at + LEFT_BYTES <= hidden.length; at++) {
    const part = hidden.slice(at, at + LEFT_BYTES);
    if (output.includes(part)) return part;
  }
  return null;
}

const keyBlock = fc
  .record({
    label: fc.constantFrom("RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PRIVATE KEY", "PGP PRIVATE KEY BLOCK"),
    body: chars(BASE64, 100, 1700),
    width: fc.constantFrom(64, 70, 76),
    prefix: fc.constantFrom("", "    ", "+ ", "2024-01-01T00:00:00.0000000Z ", '  "'),
    suffix: fc.constantFrom("", "\r", '\\n" +', '",'),
    header: fc.constantFrom("", "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,AB\n\n", "Version: GnuPG v2\n\n"),
  })
  .map(({ label, body, width, prefix, suffix, header }) => {
    const lines = body.match(new RegExp(`.{1,${width}}`, "g")) ?? [];
    const dress = (line: string) => `${prefix}${line}${suffix}`;
    const text = [dress(`-----BEGIN ${label}-----`), ...lines.map(dress), dress(`-----END ${label}-----`)].join("\n");
    return { lines, text: text.replace("-----\n", `-----\n${header}`), inString: `"${text.replaceAll("\n", "\\n")}"` };
  });

/** Bits and pieces that almost make a secret, or make two overlap. */
const pieces = fc.array(
  fc.oneof(
    planted.map(({ text }) => text),
    keyBlock.map(({ text }) => text),
    fc.constantFrom(
      "\n",
      "\r\n",
      " ",
      '"',
      "'",
      "\\",
      "=",
      ":",
      ",",
      ";",
      "&",
      "@",
      "://",
      "://a:",
      "password",
      "token=",
      "-----",
      "-----BEGIN ",
      "PRIVATE KEY-----\n",
      "BEGIN PRIVATE KEY-----",
      "-----END",
      "gh",
      "p_",
      "sk-",
      "eyJ",
      ".",
      "%3D",
      "\\n",
      "[redacted:jwt]",
      "[redacted:",
      "Authorization: ",
      "Bearer ",
      "secret",
      "\x1b[3m",
      "--",
      "$",
      "abc123",
      "A1b2C3d4E5f6G7h8",
    ),
    fc.string({ unit: "binary", maxLength: 12 }),
    chars(BASE64, 1, 80),
    fc.nat({ max: 3 }).map((power) => "k3Y".repeat(10 ** power * 6)),
  ),
  { maxLength: 14 },
);
const source = fc
  .tuple(pieces, fc.uint8Array({ maxLength: 20 }))
  .map(([texts, tail]) => new Uint8Array([...new TextEncoder().encode(texts.join("")), ...tail]));

describe("redaction", () => {
  it.each(Object.keys(SHAPES))("leaves nothing of a %s, wherever it stands and however it is chunked", (name) => {
    fc.assert(
      fc.property(
        SHAPES[name] as fc.Arbitrary<Secret>,
        fc.constantFrom(...CONTEXTS),
        fc.nat(),
        (secret, context, at) => {
          const bytes = new TextEncoder().encode(context(secret.text));
          const { text, count } = redactChunks(defaultRules, bytes, [at % (bytes.length + 1)]);
          expect(leftOf(secret.hidden, text)).toBe(null);
          expect(count).toBeGreaterThan(0);
          const rule = name.replace(/ \(.*/, "");
          if (rule !== "assigned-secret") expect(text).toContain(`[redacted:${rule}]`);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("replaces a key block line by line, also inside a string", () => {
    fc.assert(
      fc.property(keyBlock, fc.nat(), fc.boolean(), ({ lines, text, inString }, at, asString) => {
        const input = `before\n${asString ? inString : text}\nafter`;
        const bytes = new TextEncoder().encode(input);
        const output = redactChunks(defaultRules, bytes, [at % (bytes.length + 1)]).text;
        for (const line of lines) if (line.length >= LEFT_BYTES) expect(leftOf(line, output)).toBe(null);
        expect(output.split("\n").length).toBe(input.split("\n").length);
        expect(output.startsWith("before\n") && output.endsWith("\nafter")).toBe(true);
        expect(output).toContain("-----BEGIN ");
        expect(output).toContain("-----END ");
      }),
      { numRuns: 150 },
    );
  });

  it("gives the same bytes and counts however the stream is chunked", () => {
    fc.assert(
      fc.property(source, fc.array(fc.nat({ max: 40_000 }), { maxLength: 8 }), fc.boolean(), (bytes, cuts, single) => {
        const all = redactAll(defaultRules, bytes);
        const every = single && bytes.length < 3000 ? Array.from(bytes.keys()) : cuts;
        expect(redactChunks(defaultRules, bytes, every)).toEqual(all);
      }),
      { numRuns: 400 },
    );
  });

  it("keeps every line's number, and every byte that it does not replace", () => {
    fc.assert(
      fc.property(source, (bytes) => {
        const all = redactAll(defaultRules, bytes);
        expect(all.text.split("\n").length).toBe(latin(bytes).split("\n").length);
        expect(all.text.split("\r").length).toBe(latin(bytes).split("\r").length);
        if (all.count === 0) expect(all.text).toBe(latin(bytes));
        // What stands between the marks comes in the same order as in the source.
        let at = 0;
        for (const kept of all.text.split(/\[redacted:[a-z0-9-]+\]/)) {
          const found = latin(bytes).indexOf(kept, at);
          expect(found).toBeGreaterThanOrEqual(0);
          at = found + kept.length;
        }
      }),
      { numRuns: 300 },
    );
  });

  it("done twice is done once", () => {
    fc.assert(
      fc.property(source, (bytes) => {
        const once = redactAll(defaultRules, bytes);
        const twice = redactAll(
          defaultRules,
          Uint8Array.from(once.text, (char) => char.charCodeAt(0)),
        );
        expect(twice).toEqual({ text: once.text, count: 0, bytes: 0 });
      }),
      { numRuns: 400 },
    );
  });

  it("finds a key that another secret touches, in any chunks, and all of it at once", () => {
    const touched = fc.tuple(
      fc.constantFrom("SK", "key-", "fc-", "dapi").chain((prefix) => chars(HEX, 32).map((body) => prefix + body)),
      fc.constantFrom("", "\x1b[0m"),
      planted.map(({ text }) => text),
      fc.constantFrom("", " ", "\n", "x"),
    );
    fc.assert(
      fc.property(touched, fc.array(fc.nat({ max: 200 }), { maxLength: 4 }), (parts, ends) => {
        const [key, code] = parts;
        const bytes = new TextEncoder().encode(parts.join(""));
        const once = redactAll(defaultRules, bytes);
        expect(once.text.startsWith(`${key}${code}[redacted:`)).toBe(false);
        expect(redactChunks(defaultRules, bytes, ends)).toEqual(once);
        const again = redactAll(
          defaultRules,
          Uint8Array.from(once.text, (char) => char.charCodeAt(0)),
        );
        expect(again).toEqual({ text: once.text, count: 0, bytes: 0 });
      }),
      { numRuns: 400 },
    );
  });

  it.each([
    `SK${"0a".repeat(16)}AKIAABCDEFGHIJKLMN12`,
    `SK${"0a".repeat(16)}dop_v1_${"a1b2".repeat(16)}`,
    `LTAI${"a1B2".repeat(5)}ghp_${"a1B2".repeat(9)}`,
    // Neither begins or ends at a word's border but for the other.
    `key-${"0a1b".repeat(8)}key-${"9c8d".repeat(8)}`,
    `cio${"a1B2".repeat(8)}LTAI${"a1B2".repeat(5)}`,
    `LTAI${"a1B2".repeat(5)}SK${"0a1b".repeat(8)}`,
    `SK${"0a1b".repeat(8)}hf_${"a1B2".repeat(8)}`,
  ])("replaces both of %s", (text) => {
    const bytes = new TextEncoder().encode(text);
    const whole = redactAll(defaultRules, bytes);
    expect(whole.text).toMatch(/^\[redacted:[a-z-]+\]\[redacted:[a-z-]+\]$/);
    for (let cut = 1; cut < bytes.length; cut++) expect(redactChunks(defaultRules, bytes, [cut])).toEqual(whole);
    expect(redactChunks(defaultRules, bytes, Array.from(bytes.keys()))).toEqual(whole);
    // What stands before it was handed on already.
    const behind = new TextEncoder().encode(`${"word ".repeat(20)}${text}`);
    for (let cut = 1; cut < behind.length; cut++)
      expect(redactChunks(defaultRules, behind, [cut]).text).toBe(`${"word ".repeat(20)}${whole.text}`);
  });

  it("replaces a key behind the mark of an earlier one on its first line", () => {
    const key = "MIIEpAIBAAKCAQEA7bq3".repeat(4);
    const bytes = new TextEncoder().encode(`-----BEGIN PRIVATE KEY-----[redacted:jwt] ${key}\n${key}\n`);
    expect(redactAll(defaultRules, bytes).text).not.toContain("MIIE");
  });

  it("passes any bytes that hold no secret untouched, without a copy", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), (bytes) => {
        expect(redactAll(defaultRules, bytes)).toEqual({ text: latin(bytes), count: 0, bytes: 0 });
      }),
    );
  });
});

function latin(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}
