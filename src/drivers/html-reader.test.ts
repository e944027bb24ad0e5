import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadHtmlReader } from "./html-reader.ts";

const read = async (html: string) => (await loadHtmlReader()).read(html, new AbortController().signal);

describe("loadHtmlReader", () => {
  it("keeps headings, paragraphs, lists, rows, code and links, and leaves out what no reader sees", async () => {
    const page = `<!DOCTYPE html><html><head><title>A &amp; B</title><style>p { color: red }</style>
      <script>if (a < b) document.write("<p>no</p>")</script></head><body>
      <nav><a href="/home">Home</a> <a href="/about">About</a></nav>
      <h2>Install  <em>now</em><a href="#now">&para;</a></h2><p>Read the <a href="https://x.org/a?b=1&amp;c=2">manual</a>,
      please&nbsp;&hellip;<br>and <a href="#top">go up</a>.<!-- no --></p>
      <ul><li>one<li>two<ol><li>first</li><li>second</li></ol></ul>
      <table><tr><th>Name<th>Size</tr><tr><td>a</td><td>12</td></tr></table>
      <pre>\nif (x) {  \n    y();\n}</pre><div hidden>secret<div>deep</div></div>
      <svg><text>no</text></svg><img alt="a chart" src="c.png"><a href="/empty"><img src="x"></a></body></html>`;
    expect(await read(page)).toBe(
      `# A & B

Home About

## Install now

Read the [manual](https://x.org/a?b=1&c=2), please\u00a0…
and go up.

- one
- two
  1. first
  2. second

Name | Size
a | 12

if (x) {
    y();
}

[image: a chart]
`,
    );
  });

  it("gives well-formed text of any markup, and the same each time", async () => {
    const markup = fc.array(
      fc.oneof(
        fc.constantFrom(
          ..."<p> </p> <li> <ul> </ul> <a href=x> </a> <pre> </pre> <td> <h1> <!-- --> < & &#55357; <br/>".split(" "),
        ),
        fc.string({ unit: "binary", maxLength: 8 }),
      ),
      { maxLength: 60 },
    );
    await fc.assert(
      fc.asyncProperty(markup, async (parts) => {
        const html = parts.join("");
        const text = await read(html);
        expect(text.isWellFormed() || !html.isWellFormed()).toBe(true);
        expect(await read(html)).toBe(text);
      }),
      { numRuns: 200 },
    );
  });

  it("reads a page in any depth, and one that never closes what it opens, in time that grows with its size", async () => {
    const deep = `${"<div><b>".repeat(200_000)}text${"</i></div>".repeat(200_000)}`;
    expect(await read(deep)).toBe("text\n");
    expect(await read(`<ul>`.repeat(100_000) + "<li>x")).toMatch(/^ *- x\n$/);
    expect(await read(`<pre>a${" ".repeat(2_000_000)}b`)).toMatch(/^a +b\n$/);
    expect(await read(`<a href="${"x".repeat(500_000)}">far</a><!-- ${"-".repeat(500_000)}`)).toBe("far\n");
  });

  it("keeps the paragraphs of a page apart, however many it has", async () => {
    for (const before of ["", "<p>x"]) {
      const words = Array.from({ length: 10_000 }, (_, at) => `w${at}`);
      const page = before + words.map((word) => `<p>${word}</p>`).join("");
      expect(await read(page)).toBe(`${[...(before && ["x"]), ...words].join("\n\n")}\n`);
    }
  });

  it("stops when it is told to", async () => {
    const reader = await loadHtmlReader();
    await expect(reader.read("<p>x".repeat(100_000), AbortSignal.abort())).rejects.toThrow("aborted");
  });
});
