import { describe, expect, it } from "vitest";
import { redactAll, redactChunks } from "../../../test/redact-chunks.ts";
import { compileRules } from "./compile-rules.ts";
import { defaultRules } from "./default-rules.ts";
import { startRedact } from "./redact.ts";
import { BEHIND_BYTES, MAX_SECRET_BYTES } from "./window.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const redact = (text: string) => redactAll(defaultRules, encode(text)).text;
const GITHUB = `ghp_${"a1B2".repeat(9)}`;

describe("redaction", () => {
  it.each([
    [`GH=${GITHUB} next`, "GH=[redacted:github-token] next"],
    [`{"token":"${GITHUB}","n":1}`, '{"token":"[redacted:github-token]","n":1}'],
    ["postgres://app:s3cr3t@db/x", "postgres://app:[redacted:url-password]@db/x"],
    ["redis://:p@ss@cache:6379", "redis://:[redacted:url-password]@cache:6379"],
    ["DB_PASSWORD=hunter22;x", "DB_PASSWORD=[redacted:assigned-secret];x".replace(";x", "")],
    ["Cookie: theme=x9K2mQ7vR4tZ8wL1 x", "Cookie: [redacted:cookie]"],
    ["password: Tr0ub4dor, user: bob", "password: [redacted:assigned-secret], user: bob"],
    ['password="a1 b\\"c2d3" x', 'password="[redacted:assigned-secret]" x'],
    ["curl -H 'Authorization: Bearer abcdefgh12'", "curl -H 'Authorization: Bearer [redacted:authorization]'"],
    ["PASSWORD=a1b2,c3&d4;e5 # prod", "PASSWORD=[redacted:assigned-secret] # prod"],
    ["Pwd=abc123;Server=x", "Pwd=[redacted:assigned-secret];Server=x"],
    ["password=\x1b[31mhunter22x\x1b[0m y", "password=\x1b[31m[redacted:assigned-secret]\x1b[0m y"],
    [
      '\x1b[34;1m"password"\x1b[0m\x1b[1;39m:\x1b[0m \x1b[0;32m"hunter22x"\x1b[0m',
      '\x1b[34;1m"password"\x1b[0m\x1b[1;39m:\x1b[0m \x1b[0;32m"[redacted:assigned-secret]"\x1b[0m',
    ],
    [
      `password='a b c d password="abc12345def" e f' g`,
      `password='a b c d password="[redacted:assigned-secret]" e f' g`,
    ],
    [
      `password='a b c d password="abc12345def" e \\' f' g`,
      `password='a b c d password="[redacted:assigned-secret]" e \\' f' g`,
    ],
    ["secret_key_base: a1b2c3d4e5f6a7b8c9d0", "secret_key_base: [redacted:assigned-secret]"],
    ["machine h login me password hunter22x", "machine h login me password [redacted:assigned-secret]"],
    ["  login me\n  password hunter22x\n", "  login me\n  password [redacted:assigned-secret]\n"],
    ['{"name": "DB_PASSWORD", "value": "hunter22x"}', '{"name": "DB_PASSWORD", "value": "[redacted:assigned-secret]"}'],
    [
      '{\\"name\\":\\"DB_PASSWORD\\",\\"value\\":\\"hunter22x\\"}',
      '{\\"name\\":\\"DB_PASSWORD\\",\\"value\\":\\"[redacted:assigned-secret]\\"}',
    ],
    ["- name: DB_PASSWORD\n  value: hunter22x\n", "- name: DB_PASSWORD\n  value: [redacted:assigned-secret]\n"],
    ['<add key="password" value="hunter22x"/>', '<add key="password" value="[redacted:assigned-secret]"/>'],
    [
      '<property name="db.password">hunter22x</property>',
      '<property name="db.password">[redacted:assigned-secret]</property>',
    ],
    [`https://${"a1B2".repeat(6)}@github.com/x`, "https://[redacted:url-password]@github.com/x"],
    [`https://${"a1B2".repeat(6)}:x-oauth-basic@github.com/x`, "https://[redacted:url-password]@github.com/x"],
    ["curl -s -u admin:hunter2 http://h", "curl -s -u admin:[redacted:command-password] http://h"],
    ["curl --user 'me:a b c' http://h", "curl --user 'me:[redacted:command-password] b c' http://h"],
    [`VAULT hvs.${"a1B2".repeat(6)} x`, "VAULT [redacted:vault-token] x"],
    [`ya29.a0${"a1B2".repeat(20)} x`, "[redacted:google-oauth-token] x"],
    [`AGE-SECRET-KEY-1${"A1B2".repeat(14)} x`, "[redacted:age-key] x"],
    [`bot 123456789:AA${"a1-B".repeat(9)} x`, "bot 123456789:[redacted:telegram-token] x"],
  ])("%s", (input, output) => {
    expect(redact(input)).toBe(output);
  });

  it.each([
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    '"integrity": "sha512-5hHPMkT3m0Y1Q2hJYkXJm1zqk5Q0yq0l9T9bQ8y1sWw3c4kQ0o7l7mM8zA0pR9wYbWn0l5vV0yqk5Q0yq0l9Tg=="',
    "id 550e8400-e29b-41d4-a716-446655440000",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4",
    "password: string; secret?: boolean; token = null",
    "const token = parser.nextToken(stream1)",
    "password=$DB_PASSWORD token=${{ secrets.TOKEN1 }} secret={{ vault.key1 }}",
    "password: ********** token: <your-token-1>",
    "api_key=your-api-key-123 secret=changeme-please-1",
    "max_tokens: 4096, tokens: 12345678, token_count=1234567890",
    "password: process.env.PASSWORD token: os.environ['TOKEN1']",
    "PWD=/home/user1/project secret: /run/secrets/db1",
    "PublicKeyToken=b77a5c561934e089, Version=4.0.0.0",
    "risk-management-of-long-words-and-more sk-learn-is-a-library-for-all",
    "https://example.com:8080/@scope/name https://host/a:b@c",
    "if 'BEGIN PRIVATE KEY' in text and '-----BEGIN RSA PRIVATE KEY-----' in text:\n    return parse(text)\n",
    "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ\n-----END CERTIFICATE-----",
    "Cookie: theme=x9K2mQ7vR4tZ8wL; size=large; x=y",
    "passed 12345678 tests; passwords: 3; tokenizer=cl100k_base",
    "token: 2024-05-01T10:00 password: v1.2.3",
    "[redacted:github-token] password=[redacted:assigned-secret]",
    "docker run -u 1000:1000 img && curl -u $USER:$PASS http://h && curl http://h:80 --url x",
    `-${"a_".repeat(40)}password hunter22x`,
    "the password reset3 failed; login first, then enter password 12345678 here",
    "ssh://git@github.com/x https://name.of.a.person.2024@mail.example/x git+https://deploy-user@host/x",
    "hvs.example ya29.hello the time 12:AA and 123456:AAAA",
    "Private-Lines: 3 are missing",
    '<label for="password">Password2 required</label> <span id="token">a1b2c3d4e5f6 of 9</span>',
    '{"name":"password","values":["hunter22x"],"value":null} <input name="token" value="">',
    "- name: DB_PASSWORD\n  valueFrom: secretKeyRef/a1b2c3\n- name: TOKEN\n- value: 12345678",
  ])("leaves alone: %s", (text) => {
    expect(redact(text)).toBe(text);
  });

  it("counts secrets and their source bytes; what overlaps is one", () => {
    expect(redactAll(defaultRules, encode(`a ${GITHUB} b token=${GITHUB}`))).toEqual({
      text: "a [redacted:github-token] b token=[redacted:github-token]",
      count: 2,
      bytes: 80,
    });
  });

  it("hands on the very bytes that came where there is nothing to replace", () => {
    const got: Uint8Array[] = [];
    const bytes = encode("plain text\n".repeat(100));
    const running = startRedact(defaultRules, (part) => got.push(part));
    running.add(bytes);
    expect(got).toEqual([bytes]);
    expect(got[0]).toBe(bytes);
    expect(running.end()).toEqual({ count: 0, bytes: 0 });
  });

  it("does nothing without rules", () => {
    const got: Uint8Array[] = [];
    const running = startRedact([], (part) => got.push(part));
    running.add(encode(GITHUB));
    expect(running.end()).toEqual({ count: 0, bytes: 0 });
    expect(got).toEqual([encode(GITHUB)]);
  });

  it.each([MAX_SECRET_BYTES - 50, MAX_SECRET_BYTES, MAX_SECRET_BYTES + 1, 100_000, 700_000])(
    "covers a secret of %d bytes to its end, in any chunks",
    (length) => {
      const body = "a1B2c3D4".repeat(length / 8);
      for (const [before, after] of [
        ["ghp_", " end"],
        ['password="', '" end'],
        ["password=", "\nend"],
        ["Authorization: Basic ", "' end"],
        [`eyJ${"a1".repeat(20)}.eyJ${"b2".repeat(20)}.`, "\r\nend"],
      ] as const) {
        const bytes = encode(`x ${before}${body}${after}`);
        const all = redactAll(defaultRules, bytes);
        expect(all.text).not.toContain("c3D4");
        expect(all.text.endsWith(after)).toBe(true);
        expect(all.count).toBe(1);
        for (const step of [1000, 65_536, 40_001]) {
          const ends = Array.from({ length: Math.floor(bytes.length / step) }, (_, index) => (index + 1) * step);
          expect(redactChunks(defaultRules, bytes, ends)).toEqual(all);
        }
      }
    },
  );

  it("holds back no more than it needs to tell: bounded, whatever comes", () => {
    for (const piece of ["a".repeat(99), "password=a1,b2;", "sk-", "-----BEGIN PRIVATE KEY-----", "k3Y/", "://a:b"]) {
      let out = 0;
      const running = startRedact(defaultRules, (part) => {
        out += part.length;
      });
      let added = 0;
      let most = 0;
      const chunk = encode(piece.repeat(Math.ceil(1000 / piece.length)));
      for (let round = 0; round < 200; round++) {
        running.add(chunk);
        added += chunk.length;
        most = Math.max(most, added - out);
      }
      const { count, bytes } = running.end();
      // What is replaced is not held: only plain bytes can be compared.
      if (count === 0) expect(most).toBeLessThanOrEqual(MAX_SECRET_BYTES + chunk.length + BEHIND_BYTES);
      expect(bytes).toBeLessThanOrEqual(added);
    }
  });

  it.each(["\n\n", "\r\n\r\n", "\n \n\n"])("covers a key block with empty lines between its lines: %j", (gap) => {
    const key = "MIIEpAIBAAKCAQEA7bq3".repeat(3);
    const lines = ["-----BEGIN RSA PRIVATE KEY-----", key, key, "abcd1234==", "-----END RSA PRIVATE KEY-----", "then"];
    const shown = lines.map((line, at) => (at > 0 && at < 4 ? "[redacted:private-key]" : line));
    expect(redact(lines.join(gap))).toBe(shown.join(gap));
    const cut = [lines[0], key, key, "and then other text follows it", "on two lines"];
    expect(redact(cut.join(gap))).toBe([...shown.slice(0, 3), ...cut.slice(3)].join(gap));
  });

  it("knows the end of a key that stands in a string, wherever the stream is cut", () => {
    const bytes = encode(
      `k="-----BEGIN PRIVATE KEY-----\\n${"MIIEpAIBAAKCAQEA7bq3".repeat(3)}\\n-----END PRIVATE KEY-----"; a`,
    );
    const all = redactAll(defaultRules, bytes);
    expect(all.text).toBe('k="-----BEGIN PRIVATE KEY-----[redacted:private-key]-----END PRIVATE KEY-----"; a');
    for (const at of bytes.keys()) expect(redactChunks(defaultRules, bytes, [at])).toEqual(all);
    expect(redactChunks(defaultRules, bytes, [...bytes.keys()])).toEqual(all);
  });

  it("takes what is replaced for no part of the word that follows, wherever the stream is cut", () => {
    const rules = compileRules([{ name: "id", pattern: "\\bid\\d{4}" }]);
    const bytes = encode("id1234 id1234 id1234id1234 xid1234");
    const all = redactAll(rules, bytes);
    expect(all.text).toBe("[redacted:id] [redacted:id] [redacted:id][redacted:id] xid1234");
    for (const at of bytes.keys()) expect(redactChunks(rules, bytes, [at])).toEqual(all);
  });

  it("covers a key block's short last line and the checksum after it, and nothing else that is short", () => {
    const key = "lQOYBGYabcd1234efghIJKLmnop".repeat(2);
    const block = (...ends: string[]) =>
      ["-----BEGIN PGP PRIVATE KEY BLOCK-----", "", key, key, ...ends, "-----END PGP PRIVATE KEY BLOCK-----"].join(
        "\n",
      );
    const hidden = "[redacted:private-key]";
    const shown = block("shortEnd", "=aB3d").replaceAll(key, hidden);
    expect(redact(block("shortEnd", "=aB3d"))).toBe(shown.replace("shortEnd\n=aB3d", `${hidden}\n${hidden}`));
    expect(redact(block("shortEnd", "done"))).toContain(`${hidden}\ndone\n`);
  });

  it("knows a secret by the start of its word, also where the character before it is encoded", () => {
    const key = `sk-${"a1B2".repeat(6)}`;
    for (const before of ["token%3A", "%3a", "%20", "\\n", "\\u003a", " ", "="])
      expect(redact(`x${before}${key} y`)).toBe(`x${before}[redacted:openai-key] y`);
    for (const before of ["ri", "A", "3A", "x%x3A", "%3AB", "u003a"])
      expect(redact(`y ${before}${key} y`)).toBe(`y ${before}${key} y`);
  });

  it("covers the private part of a PuTTY key only", () => {
    const key = "AAAAIAbcd1234efgh5678".repeat(3);
    const text = (secret: string) =>
      `Public-Lines: 1\n${key}\nPrivate-Lines: 2\n${secret}\n${secret}\nPrivate-MAC: 0123456789abcdef\nall done\n`;
    expect(redact(text(key))).toBe(text("[redacted:private-key]"));
  });

  it("ends a key block that was cut off, and goes on with what follows", () => {
    const key = "MIIEpAIBAAKCAQEA7bq3".repeat(3);
    const text = `-----BEGIN RSA PRIVATE KEY-----\n${key}\n${key}\nerror: the file ends here, line 12\nall done with it\n`;
    expect(redact(text)).toBe(
      "-----BEGIN RSA PRIVATE KEY-----\n[redacted:private-key]\n[redacted:private-key]\n" +
        "error: the file ends here, line [redacted:private-key]\nall done with it\n",
    );
  });

  it("finds a key that another secret touches if a chunk ends within the first bytes of that secret", () => {
    // By its last byte it is not known yet whether a secret begins behind it.
    const rules = compileRules([
      { name: "one", pattern: String.raw`\bLTAI[A-Za-z0-9]{16,26}\b` },
      { name: "two", pattern: "ghp_[A-Za-z0-9]{30,}" },
    ]);
    const text = encode(`LTAI${"aB3dE6gH1jK4mN7pQ0sT2vW5yZ"}${GITHUB} next`);
    for (let end = 1; end < text.length; end++)
      expect(redactChunks(rules, text, [end]).text, String(end)).toBe("[redacted:one][redacted:two] next");
  });
});
