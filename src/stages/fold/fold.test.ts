import { describe, expect, it } from "vitest";
import type { Span } from "../../contract/span.ts";
import { chunksOf, lent } from "../../testing/arbitrary.ts";
import { startFold } from "./fold.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function spansOf(source: string | Uint8Array, chunkBytes = 65_536, shapeEnds = 1): Span[] {
  const bytes = typeof source === "string" ? encoder.encode(source) : source;
  const spans: Span[] = [];
  const fold = startFold((span) => spans.push({ ...span, bytes: new Uint8Array(span.bytes) }), shapeEnds);
  let from = 0;
  let line = 1;
  for (const chunk of lent(chunksOf(bytes, chunkBytes))) {
    fold.add(chunk, from, line);
    for (const byte of chunk) if (byte === 10) line++;
    from += chunk.length;
  }
  fold.end();
  return spans;
}

function fold(source: string, chunkBytes?: number, shapeEnds?: number): string {
  return spansOf(source, chunkBytes, shapeEnds)
    .map((span) => decoder.decode(span.bytes))
    .join("");
}

describe("control codes", () => {
  it.each([
    ["colours", "\x1b[1;31mred\x1b[0m and \x1b[38;5;12mblue\x1b[m\n", "red and blue\n"],
    ["private modes", "\x1b[?25lhidden\x1b[?25h\x1b[?2004h\n", "hidden\n"],
    ["title ended by BEL", "\x1b]0;a title\x07text\n", "text\n"],
    ["hyperlink ended by ST", "see \x1b]8;;https://example.org\x1b\\here\x1b]8;;\x1b\\.\n", "see here.\n"],
    ["DCS, APC, PM, SOS", "a\x1bPq#0\x1b\\b\x1b_x\x1b\\c\x1b^y\x1b\\d\x1bXz\x1b\\e\n", "abcde\n"],
    ["charset and two-byte codes", "\x1b(B\x1b)0a\x1b=b\x1b>c\x1b#8d\x0e\x0f\n", "abcd\n"],
    ["BEL and other C0 codes", "a\x07b\x05c\n", "abc\n"],
    ["a lone ESC", "a\x1b\nb\x1b\x1b[1mc\n", "a\nbc\n"],
    ["a CSI cut off by the line's end is text", "a\x1b[31\nb\n", "a[31\nb\n"],
    ["a string without an end is text", "a\x1b]0;title\nb\n", "a]0;title\nb\n"],
    ["a string cut off by another code is text", "a\x1b]0;t\x1b[1mb\n", "a]0;tb\n"],
    ["gcc's erase after each colour", "\x1b[01m\x1b[Kfile.c:1:\x1b[m\x1b[K boom\n", "file.c:1: boom\n"],
    [
      "C1 bytes are UTF-8",
      "\u0107\u015b caf\u00e9 \x1b[1m\u4f60\u597d\x1b[m\n",
      "\u0107\u015b caf\u00e9 \u4f60\u597d\n",
    ],
    ["tabs, NUL and separators stay", "a\tb\x00c\x1fd\x1b[m\n", "a\tb\x00c\x1fd\n"],
    ["at the source's end", "done\x1b[0m", "done"],
  ])("%s", (_, source, shown) => {
    expect(fold(source)).toBe(shown);
    expect(fold(source, 1)).toBe(shown);
  });

  it("keeps a character that was cut short before what follows it", () => {
    const cut = [...encoder.encode("ab\bc"), 0xc3, ...encoder.encode("\x1b[mA\n")];
    const shown = spansOf(Uint8Array.from(cut)).flatMap(({ bytes }) => [...bytes]);
    expect(shown).toEqual([...encoder.encode("ac"), 0xc3, ...encoder.encode("A\n")]);
  });

  it("treats a sequence over 4 KiB as text", () => {
    const long = "x".repeat(5000);
    expect(fold(`\x1b]0;${long}\x07end\n`)).toBe(`]0;${long}end\n`);
    expect(fold(`\x1b]0;${"x".repeat(4000)}\x07end\n`)).toBe("end\n");
  });
});

describe("carriage returns, backspaces and the cursor", () => {
  it.each([
    ["percentages", "10%\r20%\r100% done\n", "100% done\n"],
    ["a longer old text shows through", "100%\r5%\n", "5%0%\n"],
    ["a character of two bytes is one column", "caf\u00e9\bX\n", "cafX\n"],
    ["one that is written over and split by a colour", "ab\b\u00e9\x1b[m\u00e9\n", "a\u00e9\u00e9\n"],
    ["a colour after the return", "abc\r\x1b[m\n", "abc\n"],
    ["a private erase", "abc\x1b[2D\x1b[?Kd\n", "adc\n"],
    ["a charset named D", "10%\x1b(D\r20%\n", "20%\n"],
    ["an erase with many parameters", `20%\r\x1b[2${";1".repeat(40)}Kdone\n`, "done\n"],
    [
      "git",
      "Receiving objects:  10% (1/10)\rReceiving objects: 100% (10/10), 1.20 MiB | 3.00 MiB/s, done.\n",
      "Receiving objects: 100% (10/10), 1.20 MiB | 3.00 MiB/s, done.\n",
    ],
    ["a spinner", "| working\r/ working\r- working\n", "- working\n"],
    ["a spinner alone", "|\r/\r-\r\\\rdone\n", "\\\rdone\n"],
    ["braille spinner", "\u280b build\r\u2819 build\r\u2839 build\n", "\u2839 build\n"],
    ["a bar", "[=>   ] 10%\r[==>  ] 40%\r[=====] 100%\n", "[=====] 100%\n"],
    ["padding over the old text", "Downloading...\rDone.         \n", "Done.\n"],
    ["cleared with blanks", "Loading a b c\r             \rReady\n", "Ready\n"],
    ["erased", "Loading\r\x1b[KReady\n", "Ready\n"],
    ["erased whole, then column 1", "Loading\x1b[2K\x1b[1GReady\n", "Ready\n"],
    ["erased to the end after the text", "Loading many\rReady\x1b[K\n", "Ready\n"],
    ["erased to the cursor", "a bcd ef\x1b[4D\x1b[1Kx\n", " x ef\n"],
    [
      "curl",
      "  0  100    0     0    0     0      0      0 --:--:-- --:--:-- --:--:--     0\r100  100  100   100    0     0   5120      0 --:--:-- --:--:-- --:--:--  5120\n",
      "100  100  100   100    0     0   5120      0 --:--:-- --:--:-- --:--:--  5120\n",
    ],
    ["progress around a line that is taken back", "Build 10%\ralpha one\r\x1b[2KBuild 99%\n", "Build 99%\n"],
    ["CRLF stays", "a\r\nb\r\n", "a\r\nb\r\n"],
    ["CR CR LF keeps its text", "text\r\r\nmore\n", "text\r\nmore\n"],
    ["CR CR CR LF keeps its text", "t\u00e9xt\r\r\r\nmore\n", "t\u00e9xt\r\nmore\n"],
    ["a line of nothing but CR CR LF stays", "text\n\r\r\nmore\n", "text\n\r\nmore\n"],
    ["real lines that end in CR keep their text", "alpha one\rbeta two\rgamma", "alpha one\rbeta two\rgamma"],
    ["data lines that end in CR", "1,2,3\r4,5,6\r7,8,9\n", "1,2,3\r4,5,6\r7,8,9\n"],
    ["a CR at the very end", "50%\r100%\r", "100%"],
    [
      "a failure is not written over",
      "step 1/3 build failed\rstep 2/3 build fine\n",
      "step 1/3 build failed\rstep 2/3 build fine\n",
    ],
    ["backspaces", "abc\b\bX\n", "aXc\n"],
    ["overstrike as in manual pages", "N\bNA\bAM\bME\bE _\bx\n", "NAME x\n"],
    ["a prompt's stars taken back", "pass: **\b \b\b \bok\n", "pass: ok\n"],
    ["cursor back and forward", "abcdef\x1b[3DX\x1b[1CY\n", "abcXeY\n"],
    ["delete and insert", "abcdef\x1b[4D\x1b[2P\n", "abef\n"],
    ["tabs as a terminal has them", "a\tb\rxyz\n", "a\tb\rxyz\n"],
    ["tabs over blanks stay tabs", "a: \r   \r\tError:\tb.go:1\n", "\tError:\tb.go:1\n"],
    ["tabs over blanks that were too few", "longer than that\r    \r\tnext\tone\n", "longer than that\r\tnext\tone\n"],
    ["tabs under progress", "1%\tx\r10%\tx\n", "10%\tx\n"],
    ["wide characters are cells", "\u4f60\u597d 1%\r\u4f60\u597d 2%\n", "\u4f60\u597d 2%\n"],
    ["cursor up keeps what was there", "a 1\nb 1\n\x1b[2A\x1b[2Ka 2\n\x1b[2Kb 2\n", "a 1\nb 1\na 2\nb 2\n"],
    ["cursor up inside a line", "left\x1b[1A\r\x1b[2Kright\n", "leftright\n"],
  ])("%s", (_, source, shown) => {
    expect(fold(source)).toBe(shown);
    expect(fold(source, 1)).toBe(shown);
  });

  it("keeps lines that end in CR as source", () => {
    expect(spansOf("alpha one\rbeta two\rgamma").map((span) => span.kind)).toEqual(["source"]);
  });

  it("folds an endless progress line to its last state in bounded memory", () => {
    const spans: Span[] = [];
    const folding = startFold((span) => spans.push({ ...span, bytes: span.bytes.slice() }));
    const update = encoder.encode("Receiving objects:  10% (1/10), 1.2 MiB\r".repeat(1000));
    for (let index = 0; index < 50; index++) folding.add(update, index * update.length, 1);
    const last = encoder.encode("Receiving objects: 100% (10/10), 9.9 MiB, done.\n");
    folding.add(last, 50 * update.length, 1);
    folding.end();
    expect(spans).toHaveLength(1);
    expect(spans[0]).toMatchObject({ kind: "rewritten", from: 0, to: 50 * update.length + last.length, breaks: 1 });
    expect(decoder.decode(spans[0]!.bytes)).toBe("Receiving objects: 100% (10/10), 9.9 MiB, done.\n");
  });

  it("passes on as it stands what is visible beyond 64 KiB of a line", () => {
    const head = `\x1b[1m${"h".repeat(65_537)}`;
    const rest = "\x1b[0mrest\x07 of it\n";
    const spans = spansOf(`${head}${rest}next\n`);
    expect(spans[0]).toMatchObject({ kind: "rewritten", from: 0, to: head.length, line: 1, breaks: 0 });
    expect(fold(`${head}${rest}next\n`)).toBe(`${"h".repeat(65_537)}${rest}next\n`);
    expect(spansOf("c".repeat(200_000), 1000).every((span) => span.kind === "source")).toBe(true);
  });
});

describe("runs of identical lines", () => {
  it("become a note", () => {
    const spans = spansOf(`a\n${"again and again\n".repeat(214)}b\n`);
    expect(spans.map((span) => decoder.decode(span.bytes))).toEqual([
      "a\nagain and again\n",
      "[previous line repeated 213 more times]\n",
      "b\n",
    ]);
    expect(spans[1]).toMatchObject({ kind: "note", counts: "folded", line: 3, breaks: 213, chars: 213 * 16, from: 18 });
  });

  it("only where that is shorter", () => {
    expect(fold("short\nshort\nend\n")).toBe("short\nshort\nend\n");
    const long = "a line that is longer than the note about it\n";
    expect(fold(long + long)).toBe(`${long}[previous line repeated 1 more time]\n`);
    expect(fold("\n".repeat(30))).toBe("\n".repeat(30));
    expect(fold("\n".repeat(100))).toBe("\n[previous line repeated 99 more times]\n");
  });

  it("count as identical when only their colours differ", () => {
    const spans = spansOf(`${"\x1b[31msame thing here\x1b[0m\nsame thing here\n".repeat(10)}`);
    expect(spans.map((span) => decoder.decode(span.bytes)).join("")).toBe(
      "same thing here\n[previous line repeated 19 more times]\n",
    );
    expect(spans[1]).toMatchObject({ breaks: 19, chars: 9 * 25 + 10 * 16 });
  });

  it("do not when whitespace differs", () => {
    const source = "one two three four five six seven eight\none two three four five six seven  eight\n";
    expect(fold(source)).toBe(source);
  });

  it("include a last line without a line break", () => {
    const spans = spansOf(`${"the same\n".repeat(20)}the same`);
    expect(spans[1]).toMatchObject({ kind: "note", breaks: 19, to: 20 * 9 + 8 });
  });

  it("fold failures too: one is shown", () => {
    expect(fold("error: disk full\n".repeat(50))).toBe("error: disk full\n[previous line repeated 49 more times]\n");
  });

  it("may stand inside lines of the same shape", () => {
    const twice = (count: number) => `${`worker ${count} is still waiting for the lock of the database\n`.repeat(2)}`;
    expect(fold(twice(1) + twice(2))).toBe(
      `${twice(1).slice(0, twice(1).length / 2)}[previous line repeated 1 more time]\n${twice(2).slice(0, twice(2).length / 2)}[previous line repeated 1 more time]\n`,
    );
  });

  it("end at a line that is too long to hold", () => {
    const again = "a line that is longer than the note about it\n";
    const long = `${"h".repeat(70_000)}\n`;
    const folded = `${again}[previous line repeated 19 more times]\n`;
    expect(fold(again.repeat(20) + long + again.repeat(20))).toBe(folded + long + folded);
    expect(fold(again.repeat(20) + long + again.repeat(20), 1000)).toBe(folded + long + folded);
  });

  it("handles lines of many kilobytes", () => {
    const long = `${"0123456789".repeat(3000)}\n`;
    expect(fold(long.repeat(5))).toBe(`${long}[previous line repeated 4 more times]\n`);
  });
});

describe("runs of one shape", () => {
  const numbered = (count: number, line: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => `${line(index + 1)}\n`);

  it("keep the first line and the last", () => {
    const lines = numbered(213, (index) => `[${index}/213] Compiling unit ${index * 7} in ${index}.5s`);
    const spans = spansOf(`start\n${lines.join("")}end\n`);
    expect(spans.map((span) => decoder.decode(span.bytes)).join("")).toBe(
      `start\n${lines[0]}[211 lines like these omitted: lines 3-213]\n${lines[212]}end\n`,
    );
    expect(spans[1]).toMatchObject({ kind: "note", counts: "omitted", line: 3, breaks: 211 });
  });

  it("need eight lines", () => {
    const line = (index: number) => `GET /things/${index} took ${index * 3}ms and was fine`;
    const seven = numbered(7, line).join("");
    expect(fold(seven)).toBe(seven);
    expect(fold(numbered(8, line).join(""))).toContain("[6 lines like these omitted: lines 2-7]\n");
  });

  it.each([
    ["hex ids", (index: number) => `pushed layer ${(index * 7919 + 0xabc123).toString(16)} to the registry`],
    ["timestamps", (index: number) => `2024-05-01T10:00:${String(index + 10)}.123Z tick of the clock`],
    ["aligned numbers", (index: number) => `[${String(index * 5).padStart(3)}%] copying the files over`],
    ["durations with other units", (index: number) => `finished in ${index % 2 ? "1.5s" : "300ms"} this time`],
    ["durations of 0 ms", (index: number) => `request ${index} served in ${index % 5} ms`],
    ["workers numbered from 0", (index: number) => `10:00:01 worker ${index % 4} handled job ${index}`],
    ["UUIDs", (index: number) => `job ${index + 10}a4c1f-beef-4abc-9d0e-0123456789a${index % 10} queued`],
  ])("see through %s", (_, line) => {
    expect(fold(numbered(12, line).join(""))).toContain("[10 lines like these omitted: lines 2-11]\n");
  });

  it.each([
    ["a counter", (index: number) => `line ${index}`],
    ["bare numbers", (index: number) => `${index * 7919}`],
    ["rows of numbers", (index: number) => `${index},${index * 17},${index}.5,${index * 3}`],
    ["a table", (index: number) => `user ${index} balance ${index * 100} items ${index % 7}`],
    ["dates in rows of numbers", (index: number) => `2024-05-${10 + index},${index * 100},${index}.25`],
    ["addresses", (index: number) => `10.0.${index}.0/24 via 10.0.0.${index}`],
    [
      "frames of a stack trace",
      (index: number) =>
        `  #${index} 0x${(index * 7919 + 0xabc123).toString(16)} in eval${index} /src/eval.c:${index}:7`,
    ],
    ["places in files", (index: number) => `src/a.ts:${index + 10}:${index + 20}: const x`],
  ])("do not collapse %s: that is data", (_, line) => {
    const lines = numbered(60, line).join("");
    expect(fold(lines)).toBe(lines);
    expect(fold(lines, 100)).toBe(lines);
  });

  it("never leave out a failure word", () => {
    const failing = numbered(30, (index) => `test ${index} failed in module ${index}`).join("");
    expect(fold(failing)).toBe(failing);
    const mixed = numbered(60, (index) => (index === 30 ? "test 30 ERROR" : `test ${index} passed`));
    expect(fold(mixed.join(""))).toContain("test 30 ERROR\n");
  });

  it.each([
    ["a count", (count: number) => `batch: ok, failures: ${count}`, 0, 2],
    ["a count before the word", (count: number) => `batch done: ${count} errors, fine otherwise`, 0, 3],
    ["an exit code", (count: number) => `job finished with exit code ${count}`, 0, 1],
    ["an HTTP status", (count: number) => `12:00:01 "GET /index.html HTTP/1.1" ${count} 1234`, 200, 503],
    ["a status behind a path", (count: number) => `GET /items ${count} 12ms`, 200, 500],
    ["a status behind an arrow", (count: number) => `--> POST /items/7?x=1 -> ${count} (12 ms)`, 201, 422],
  ])("keep the line where %s goes bad", (_, line, fine, bad) => {
    const lines = numbered(100, (index) => `${index + 10}: ${line(index === 50 ? bad : fine)}`);
    const shown = fold(lines.join(""));
    expect(shown).toContain(lines[49]);
    expect(shown).toContain("lines like these omitted");
  });

  it("keep a last line without a line break", () => {
    const source = numbered(20, (index) => `copied file number ${index}`)
      .join("")
      .slice(0, -1);
    const spans = spansOf(source);
    expect(spans.at(-1)).toMatchObject({ kind: "source", to: source.length });
    expect(decoder.decode(spans.at(-1)!.bytes)).toBe("copied file number 20");
  });

  it("work on lines with colours", () => {
    const lines = numbered(20, (index) => `\x1b[32mPASS\x1b[0m case ${index + 10}`);
    expect(fold(lines.join(""))).toBe("PASS case 11\n[18 lines like these omitted: lines 2-19]\nPASS case 30\n");
  });
});

describe("lines that differ only in their numbers", () => {
  const took = (values: number[]) => values.map((value) => `answered in ${value} ms\n`).join("");
  const usual = Array.from({ length: 60 }, (_, n) => 20 + ((n * 7) % 30));

  it("stay where a number is far over the others, each time it is", () => {
    const values = usual.with(25, 9999).with(40, 9500);
    for (const chunkBytes of [7, 65_536]) {
      const folded = fold(took(values), chunkBytes);
      expect(folded).toContain("answered in 9999 ms\n");
      expect(folded).toContain("answered in 9500 ms\n");
      expect(folded.split("\n").length).toBeLessThan(14);
    }
  });

  it("stay at each end, as many as were asked for", () => {
    for (const ends of [1, 2, 5, 20]) {
      const folded = fold(took(usual), 100, ends);
      const [first, last] = folded.split(/\[\d+ lines like these omitted: .*\]\n/);
      expect(first).toBe(took(usual.slice(0, ends)));
      expect(last).toBe(took(usual.slice(-ends)));
    }
    expect(fold(took(usual), 100, 30)).toBe(took(usual));
  });
});

describe("plain text", () => {
  it("comes out in one piece per chunk", () => {
    const words = ["alpha", "beta", "gamma", "delta", "epsilon"];
    let source = "";
    for (let index = 0; source.length < 300_000; index++) source += `${words[index % 5]} says ${index * 7}\n`;
    const spans = spansOf(source);
    expect(spans.length).toBeLessThanOrEqual(2 * Math.ceil(source.length / 65_536));
    expect(spans.map((span) => decoder.decode(span.bytes)).join("")).toBe(source);
  });

  it("starts where the caller says", () => {
    const spans: Span[] = [];
    const folding = startFold((span) => spans.push({ ...span }));
    folding.add(encoder.encode("\x1b[mx\n"), 100, 7);
    folding.end();
    expect(spans).toEqual([
      { kind: "rewritten", bytes: encoder.encode("x\n"), from: 100, to: 105, line: 7, breaks: 1, chars: 5 },
    ]);
  });

  it("gives nothing for nothing", () => {
    expect(spansOf("")).toEqual([]);
  });
});
