import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import axe from "axe-core";
import { type Browser, chromium, type Locator, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stretchesOf } from "../dashboard/src/stretches.ts";
import { type Served, startServe } from "../src/entrypoints/serve/start-serve.ts";
import { PUBLIC_UPSTREAMS } from "../src/entrypoints/serve/upstreams.ts";
import { createSpillway } from "../src/index.ts";
import { clampText } from "../src/stages.ts";
import { openLocal } from "../src/storage/local/open-local.ts";
import { startFakeProvider } from "../src/testing/fake-provider/start-fake-provider.ts";

// The dashboard in a real browser. All data comes in through the gateway and the library; figures are counted a second time
// from the raw events, by SQL of this file's own.

const browserPath = findBrowser();
if (browserPath === null) {
  process.stderr.write(
    "The tests of the dashboard need a browser, and none was found: apt-get install chromium, or name one in SPILLWAY_BROWSER.\n",
  );
}

function findBrowser(): string | null {
  const named = process.env["SPILLWAY_BROWSER"];
  if (named) return named;
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const names = ["chromium", "chromium-browser", "google-chrome"];
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path)) ?? null;
}

const FLAGS =
  "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync".split(
    " ",
  );

const BAD_TOOL = "<img src=x onerror=globalThis.hit=1>\u202egnp";
const BAD_TEXT = [
  "<script>globalThis.hit=1</script>",
  "\u001b[31mred\u001b[0m and \u202eturned\u202c and \u0007 a bell",
  `{{constructor.constructor("globalThis.hit=1")()}} javascript:globalThis.hit=1 "onload="globalThis.hit=1`,
];
const LONG_LINE = "x".repeat(10_000_000);

describe.skipIf(browserPath === null)("the dashboard", () => {
  let dir = "";
  let server: Served;
  let browser: Browser;
  let closeAll: () => Promise<void>;
  let admitOne: (session: string, output: string) => Promise<unknown>;
  let ledger: Awaited<ReturnType<typeof openLocal>>["ledger"];
  const ids: Record<string, string> = {};

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "spillway-dashboard-"));
    const place = await openLocal(dir);
    ledger = place.ledger;
    const provider = await startFakeProvider({
      speaks: "anthropic",
      window: 20_000,
      countTokens: (text) => Math.ceil(text.length / 3.5),
      script: () => "Done.",
    });
    const policy = { contextTokens: 64_000 };
    const spillway = await createSpillway({ store: place.store, ledger: place.ledger, policy, env: {} });
    const cache = await startCache(provider.url);
    const anthropic = cache.url;
    server = await startServe({
      spillway,
      policy,
      version: "1.0.0",
      host: "127.0.0.1",
      port: 0,
      tokens: [],
      hostNames: [],
      gateway: { upstreams: { anthropic, openai: anthropic, gemini: anthropic }, allowed: [] },
      warn: () => {},
    });
    admitOne = (session, output) => spillway.admit({ tool: "late", session, call: session, output });
    await playThroughGateway(server.url, "agent", 14);
    await playThroughGateway(server.url, CACHED, 6);
    // One session is refused twice: what a provider said of one model does not hold for another.
    for (const model of ["one", "another"]) await playThroughGateway(server.url, "refused twice", 14, model);
    const admit = async (name: string, tool: string, output: string, exitCode?: number) => {
      const { receipt } = await spillway.admit({ tool, session: `<b>${name}</b>`, call: name, output, exitCode });
      ids[name] = receipt.artifact ?? "";
    };
    await admit("bad", BAD_TOOL, [...BAD_TEXT, ...numbered(2000), ...BAD_TEXT].join("\n"));
    await admit("long", "bash", ["first", LONG_LINE, "between", LONG_LINE, "last"].join("\n"));
    await admit("many", "bash", numbered(1_000_000).with(654_320, "src/a.ts:5: error: a needle").join("\n"), 2);
    // The rows of the second one are higher than what a browser draws.
    for (const [name, lines] of [
      ["scattered", 20_000],
      ["scattered widely", 800_000],
    ] as const) {
      const faults = numbered(lines).map((line, at) =>
        at % (lines / 40) === 99 ? `src/f${at}.ts:5: error: no such name` : line,
      );
      await admit(name, "bash", faults.join("\n"), 1);
    }
    await admit("blank", " ", numbered(3).join("\n"));
    for (let at = 0; at < 30; at++) await admit(`often ${at}`, "grep", numbered(700 + at).join("\n"));
    await spillway.recall(ids["bad"] ?? "", { lines: [5, 9] });
    // Neither counts as what it looks like: a person's own search, and a tool that ran again because of a cut.
    await spillway.search(ids["bad"] ?? "", { pattern: "entry 7" }, { reads: "person" });
    for (const call of ["first", "again"]) {
      await spillway.admit({ tool: "cat", session: "reruns", call, output: numbered(3000).join("\n") });
    }
    browser = await chromium.launch({ executablePath: browserPath ?? "", args: FLAGS });
    closeAll = async () => {
      await browser.close();
      await server.stop({ now: true });
      await cache.stop();
      await provider.stop();
      await place.close();
      await rm(dir, { recursive: true, force: true });
    };
  });
  afterAll(() => closeAll());

  /** Opens a page, and fails for what a browser complains of. */
  async function open(hash: string, width = 1280): Promise<{ page: Page; complaints: string[] }> {
    const page = await browser.newPage({ viewport: { width, height: width < 500 ? 844 : 800 }, colorScheme: "light" });
    page.setDefaultTimeout(120_000);
    const complaints: string[] = [];
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("dialog", (dialog) => {
      complaints.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("request", (request) => {
      if (!request.url().startsWith(server.url) && !/^(data|blob):/.test(request.url())) complaints.push(request.url());
    });
    await page.goto(`${server.url}/${hash}`);
    await page.waitForSelector("h1");
    return { page, complaints };
  }

  const sql = <Row>(query: string, ...values: string[]): Row[] => {
    const { DatabaseSync } = createRequire(import.meta.url)("@photostructure/sqlite");
    const database = new DatabaseSync(join(dir, "spillway.db"), { readOnly: true });
    try {
      return database.prepare(query).all(...values) as Row[];
    } finally {
      database.close();
    }
  };

  // Each part of a page has a request of its own, so each is waited for.
  const ready = async (locator: Locator): Promise<Locator> => {
    await locator.first().waitFor();
    return locator;
  };
  const under = (page: Page, name: string) =>
    ready(page.locator(".figures > div", { has: page.locator(`dt:text-is("${name}")`) }));

  /** The exact values under a heading of a page's figures, in order. */
  const figure = async (page: Page, name: string): Promise<number[]> =>
    (await under(page, name))
      .locator("data")
      .evaluateAll((all) => all.map((each) => Number((each as HTMLDataElement).value)));

  /** What stands under a heading of a page's figures, in words. */
  const words = async (page: Page, name: string): Promise<string[]> =>
    (await under(page, name)).locator("dd").allTextContents();

  /** The rows of a table: exact values where there are any, else the words. */
  const cells = async (page: Page, label: string) =>
    (await ready(page.locator(`[aria-label='${label}'] tbody tr`))).evaluateAll((all) =>
      all.map((row) => [...row.children].map((cell) => cell.querySelector("data")?.value ?? cell.textContent)),
    );
  // What a host would have cut itself does not count as printed, nor what was cut before in its session.
  const isRerun = `exists (select 1 from events e where e.kind = 'output-clamped' and e.artifact = events.artifact
    and e.session = events.session and e.tool = events.tool and e.id < events.id) and kind = 'output-clamped'`;
  const whole = `round(1.0 * json_extract(receipt, '$.shown.tokens') * json_extract(receipt, '$.total.bytes') / json_extract(receipt, '$.shown.bytes'))`;
  const printed = `min(${whole}, coalesce(json_extract(more, '$.hostTokens'), 1e15))`;
  const percent = (share: number) => `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;

  const firstResult = () =>
    sql<{ id: number }>("select min(id) id from events where session = 'agent' and receipt is not null")[0]?.id;

  const PAGES: [name: string, hash: () => string, ready: string][] = [
    ["overview", () => "#/overview", ".chart canvas"],
    ["sessions", () => "#/sessions", "tbody tr"],
    ["a session", () => "#/sessions/agent", ".lane"],
    ["a result of a session", () => `#/sessions/agent?result=${firstResult()}`, ".life .text-line"],
    ["outputs", () => "#/outputs", "tbody tr"],
    ["an output", () => `#/outputs/${ids["many"]}`, ".text-row .text-line:not(:empty)"],
    ["an output as the model read it", () => `#/outputs/${ids["bad"]}?as=model`, ".text-row .text-line:not(:empty)"],
    ["an output that is hostile", () => `#/outputs/${ids["bad"]}`, ".text-row .text-line:not(:empty)"],
    ["tools", () => "#/tools", "tbody tr"],
    ["a tool", () => "#/tools/grep", ".sizes tr"],
    ["a tool that is hostile", () => `#/tools/${encodeURIComponent(BAD_TOOL)}`, ".sizes tr"],
    ["overflows", () => "#/overflows", ".incident"],
    ["the playground", () => "#/playground", "textarea"],
    ["a page that is not there", () => "#/nothing", ".empty"],
    ["an output that is not there", () => "#/outputs/aaaaaaaaaaaa", ".fault"],
  ];

  it.each(PAGES)(
    "%s: at both widths, in both themes, nothing is found by axe-core, nothing sticks out",
    async (_name, hash, ready) => {
      for (const width of [1280, 390]) {
        const { page, complaints } = await open(hash(), width);
        await page.waitForSelector(ready);
        await page.evaluate(axe.source);
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme });
          // Only colours differ between the themes.
          const rules = colorScheme === "dark" ? ["color-contrast"] : null;
          const found = await page.evaluate(async (runOnly) => {
            const { axe: check } = globalThis as unknown as { axe: typeof axe };
            const { violations } = await check.run({ resultTypes: ["violations"], ...(runOnly && { runOnly }) });
            return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
          }, rules);
          expect(found).toEqual([]);
        }
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
        // What is asked for and is not there is answered with 404.
        expect(complaints.filter((each) => !/404/.test(each))).toEqual([]);
        expect(await page.evaluate(() => (globalThis as { hit?: number }).hit)).toBeUndefined();
        await page.close();
      }
    },
  );

  it("each page that the bar leads to is among them", async () => {
    // The aim of the link that skips to the content names no page.
    const main = await open("#main");
    expect(await main.page.locator("h1").textContent()).toBe("Overview");
    await main.page.close();
    const { page } = await open("#/");
    // All that it loads at first, what it asks the API included.
    const loaded = await page.evaluate(() =>
      performance
        .getEntries()
        .reduce((sum, entry) => sum + ((entry as PerformanceResourceTiming).transferSize ?? 0), 0),
    );
    expect(loaded).toBeGreaterThan(50_000);
    expect(loaded).toBeLessThan(200_000);
    const hashes = await page.locator("nav li a").evaluateAll((all) => all.map((each) => each.getAttribute("href")));
    expect(hashes.length).toBeGreaterThan(5);
    expect(PAGES.map(([, hash]) => hash())).toEqual(expect.arrayContaining(hashes));
    await page.close();
  });

  it("asks for a token where the server has tokens, says where it comes from, and takes one of the role read", async () => {
    const token = "a token of the role read".replaceAll(" ", "-");
    const spillway = await createSpillway({ dir: join(dir, "guarded"), env: {} });
    const guarded = await startServe({
      spillway,
      policy: {},
      version: "1.0.0",
      host: "127.0.0.1",
      port: 0,
      tokens: [{ role: "read", token }],
      hostNames: [],
      gateway: { upstreams: PUBLIC_UPSTREAMS, allowed: [] },
      warn: () => {},
    });
    try {
      const page = await browser.newPage();
      page.setDefaultTimeout(120_000);
      await page.goto(`${guarded.url}/#/sessions`);
      const box = page.locator("form", { hasText: "This server asks for a token." });
      const said = (await box.innerText()).replaceAll(/\s+/g, " ");
      for (const where of ["SPILLWAY_TOKEN", "spillway serve --tokens FILE", "Any role will do"])
        expect(said).toContain(where);
      const give = async (text: string) => {
        await box.getByLabel("Token").fill(text);
        await box.getByRole("button", { name: "Use it" }).click();
      };
      await give("some-other-token-of-theirs");
      await page.waitForSelector(".fault:not(form)");
      await give(token);
      await page.getByText("Nothing is recorded yet").waitFor();
      expect(await page.locator(".fault").count()).toBe(0);
      // What is shown whole is not saved, and has no session here: the pages that are empty say where it is.
      await spillway.admit({ tool: "cat", output: "one line" });
      for (const [hash, title] of [
        ["#/outputs", "No output is saved here"],
        ["#/sessions", "No session is recorded"],
      ] as const) {
        await page.evaluate((to) => {
          location.hash = to;
        }, hash);
        await page.getByText(title).waitFor();
        expect(await page.locator(".empty p").textContent()).toMatch(/^1 output came in/);
      }
      // A plain link would not carry the token.
      const output = numbered(3000).join("\n");
      const { receipt } = await spillway.admit({ tool: "cat", output });
      await page.evaluate((to) => {
        location.hash = to;
      }, `#/outputs/${receipt.artifact}`);
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "Download" }).click(),
      ]);
      expect(await readFile(await download.path(), "utf8")).toBe(output);
      await page.close();
    } finally {
      await guarded.stop({ now: true });
    }
  });

  it("shows every figure of the overview as the raw events have it", async () => {
    const { page } = await open("#/overview?range=all");
    await page.waitForSelector(".chart canvas");
    const outputs =
      "from events where kind in ('output-clamped', 'output-passed') and json_extract(more, '$.isRecut') is null";
    const shown = (unit: string) => `coalesce(sum(json_extract(receipt, '$.shown.${unit}')), 0)`;
    const [sums] = sql<Record<string, number>>(
      `select count(*) calls, sum(json_extract(receipt, '$.total.bytes')) bytes, ${shown("bytes")} shownBytes, ${shown("tokens")} shownTokens,
        sum(json_extract(receipt, '$.omitted.bytes') > 0) cut, sum(iif(${isRerun}, 0, ${printed})) tokens, sum(${isRerun}) reruns ${outputs}`,
    );
    expect(sums?.["reruns"]).toBe(2);
    const read = "from events where kind in ('artifact-recalled', 'artifact-searched')";
    const [recalls] = sql<Record<string, number>>(
      `select count(*) count, sum(json_extract(more, '$.tokens')) tokens ${read} and json_extract(more, '$.reads') = 'model'`,
    );
    // People read too, on these pages among others, which does not count.
    expect(sql(`select * ${read}`).length).toBeGreaterThan(recalls?.["count"] ?? 0);
    const [requests] = sql<Record<string, number>>(
      `select count(*) count, sum(json_extract(more, '$.inputTokens')) tokens, sum(coalesce(json_extract(more, '$.cacheReadTokens'), 0)) cached,
        sum(coalesce(json_extract(more, '$.cacheWriteTokens'), 0)) written from events where kind = 'request-answered'`,
    );
    expect(await figure(page, "Tools printed")).toEqual([sums?.["tokens"], sums?.["bytes"], sums?.["calls"]]);
    expect(await figure(page, "Models were shown")).toEqual([
      sums?.["shownTokens"],
      sums?.["shownBytes"],
      sums?.["cut"],
    ]);
    const saved = (sums?.["tokens"] ?? 0) - (sums?.["shownTokens"] ?? 0) - (recalls?.["tokens"] ?? 0);
    expect(await figure(page, "Net saved")).toEqual([saved]);
    expect((await words(page, "Net saved"))[1]).toBe(`${percent(saved / (sums?.["tokens"] ?? 0))} of what was printed`);
    expect(await figure(page, "Read back")).toEqual([recalls?.["count"], recalls?.["tokens"]]);
    expect((await words(page, "Read back"))[1]).toContain(
      `; ${percent((recalls?.["count"] ?? 0) / (sums?.["cut"] ?? 0))} of cut outputs`,
    );
    expect(await figure(page, "Requests answered")).toEqual([requests?.["count"], requests?.["tokens"]]);
    const { tokens: input = 0, cached = 0, written = 0 } = requests ?? {};
    expect(Math.min(cached, written)).toBeGreaterThan(0);
    const dollars = (cost: number) => `$${cost.toFixed(cost < 1 ? 4 : 2)}`;
    const cost = ((input - cached - written) * 3 + cached * 0.3 + written * 3.75) / 1e6;
    expect(await words(page, "Input cost")).toEqual([dollars(cost), `without the cache ${dollars((input * 3) / 1e6)}`]);
    expect((await words(page, "From the cache"))[0]).toBe(percent(cached / input));
    expect(await figure(page, "From the cache")).toEqual([cached]);
    expect((await words(page, "Net saved is worth"))[0]).toBe(dollars((saved * 3) / 1e6));
    await page.getByLabel("Prices of").selectOption("openai");
    const elsewhere = ((input - cached) * 1.25 + cached * 0.125) / 1e6;
    expect((await words(page, "Input cost"))[0]).toBe(dollars(elsewhere));
    expect((await words(page, "Net saved is worth"))[0]).toBe(dollars((saved * 1.25) / 1e6));
    const refusals = sql<{ count: number }>("select count(*) count from events where kind = 'overflow-detected'")[0]
      ?.count;
    expect(refusals).toBeGreaterThan(0);
    expect(Number(await page.locator("#overflows + p data").first().getAttribute("value"))).toBe(refusals);
    const [recovered] = sql<{ count: number }>("select count(*) count from events where kind = 'overflow-recovered'");
    expect(Number(await page.locator("#overflows + p data").nth(1).getAttribute("value"))).toBe(recovered?.count);
    const last = sql<{ had: number; has: number }>(
      `select json_extract(more, '$.fromBytes') had, json_extract(more, '$.bytes') has from events
        where kind in ('overflow-recovered', 'overflow-failed') order by id desc limit 5`,
    );
    const kib = (bytes: number) => `${(bytes / 1024).toPrecision(3)} KiB`;
    expect((await page.locator("#overflows ~ ul li").allTextContents()).map((each) => each.split(": ")[1])).toEqual(
      last.map(({ had, has }) => `${kib(had)} to ${kib(has)}`),
    );
    // The chart's table, hour by hour. Hours without events have a row too.
    const hours = sql<{ shown: number; read: number; printed: number }>(
      `with o as (select at_ms / 3600000 hour, sum(json_extract(receipt, '$.shown.tokens')) shown, sum(iif(${isRerun}, 0, ${printed})) printed ${outputs} group by 1),
        r as (select at_ms / 3600000 hour, sum(json_extract(more, '$.tokens')) read ${read} and json_extract(more, '$.reads') = 'model' group by 1)
        select shown, coalesce(read, 0) read, printed from o left join r using (hour) order by hour`,
    );
    // The chart has the same as layers: as many pixels of a colour as its tokens, in the bar of the last hour.
    const drawn = await page.locator(".chart canvas").evaluate((element) => {
      const canvas = element as HTMLCanvasElement;
      const pen = canvas.getContext("2d");
      const probe = element.appendChild(document.createElement("span"));
      const colors = ["--accent", "--found", "--saved"].map((name) => {
        probe.style.color = `var(${name})`;
        return getComputedStyle(probe).color.match(/\d+/g)?.slice(0, 3).map(Number) ?? [];
      });
      // A column of pixels in the middle of each bar that there is: the tallest stack of the last layer says where.
      const { width, height } = canvas;
      const { data } = pen?.getImageData(0, 0, width, height) ?? { data: [] };
      const columns = Array.from({ length: width }, (_none, x) =>
        colors.map((color) => {
          let count = 0;
          for (let y = 0; y < height; y++) {
            const at = (y * width + x) * 4;
            if (color.every((part, channel) => Math.abs((data[at + channel] ?? 0) - part) < 3)) count++;
          }
          return count;
        }),
      );
      const tallOf = (column: number[]) => column.reduce((sum, each) => sum + each, 0);
      return columns.toSorted((one, other) => tallOf(other) - tallOf(one))[10] ?? [];
    });
    const tallest = hours.toSorted((one, other) => other.printed - one.printed)[0];
    const pixels = drawn.reduce((sum, each) => sum + each, 0);
    expect(pixels).toBeGreaterThan(100);
    const { shown: hourShown = 0, read: hourRead = 0, printed: hourPrinted = 1 } = tallest ?? {};
    for (const [layer, tokens] of [hourShown, hourRead, hourPrinted - hourShown - hourRead].entries()) {
      expect(Math.abs((drawn[layer] ?? 0) - (tokens / hourPrinted) * pixels), `layer ${layer}: ${drawn}`).toBeLessThan(
        5,
      );
    }
    // Where no hour is pointed at, the legend has the sums of all.
    const english = new Intl.NumberFormat("en");
    const inAll = (valueOf: (hour: (typeof hours)[number]) => number) =>
      english.format(hours.reduce((sum, hour) => sum + valueOf(hour), 0));
    expect(await page.locator(".u-legend .u-value").allTextContents()).toEqual([
      "all",
      inAll(({ shown, read, printed }) => printed - shown - read),
      inAll(({ read }) => read),
      inAll(({ shown }) => shown),
    ]);
    await page.getByRole("button", { name: "As a table" }).click();
    expect((await cells(page, "The figures of the chart")).map((row) => row.slice(1))).toEqual(
      hours.map(({ shown, read, printed }) =>
        [shown, read, printed - shown - read].map((each) => english.format(each)),
      ),
    );
    const tools = sql<
      Record<"count" | "cut" | "read" | "mean" | "printed" | "shown" | "saved", number> & { tool: string }
    >(
      `select tool, count(*) count, sum(json_extract(receipt, '$.total.bytes')) printed, ${shown("bytes")} shown,
        sum(iif(is_rerun, 0, ${printed})) - ${shown("tokens")} - coalesce((select sum(json_extract(more, '$.tokens')) ${read}
          and json_extract(more, '$.reads') = 'model' and tool = outputs.tool), 0) saved, 1.0 * sum(json_extract(receipt, '$.omitted.bytes') > 0) / count(*) cut,
        coalesce((select count(*) ${read} and json_extract(more, '$.reads') = 'model' and tool = outputs.tool)
          / nullif(1.0 * sum(json_extract(receipt, '$.omitted.bytes') > 0), 0), 0) read,
        round(1.0 * sum(json_extract(receipt, '$.total.bytes')) / count(*)) mean
        from (select *, ${isRerun} is_rerun ${outputs}) outputs group by tool`,
    );
    expect(tools.filter(({ cut, read }) => cut > 0 && read > 0)).not.toEqual([]);
    const byTool = (rows: unknown[][]) => new Set(rows.map((row) => JSON.stringify(row)));
    // More than half of the outputs are cut, and enough of them to tell: that asks for a look.
    const flagged = (await cells(page, "Sums by tool")).filter(([, , , cut]) => cut?.startsWith("! "));
    expect(flagged.map(([tool]) => (tool === '" "' ? " " : tool)).toSorted()).toEqual(
      tools.flatMap(({ tool, cut, count }) => (cut > 0.5 && cut * count > 4.5 ? tool : [])).toSorted(),
    );
    expect(
      byTool(
        (await cells(page, "Sums by tool")).map((row) =>
          row.map((cell) => (cell === '" "' ? " " : cell?.replace("! ", ""))),
        ),
      ),
    ).toEqual(
      byTool(
        tools.map(({ tool, saved, count, cut, read, printed, shown }) => [
          tool,
          english.format(saved),
          `${count}`,
          percent(cut),
          percent(read),
          `${printed}`,
          `${shown}`,
        ]),
      ),
    );
    await page.getByRole("link", { name: "grep", exact: true }).click();
    await page.waitForSelector(".sizes tr");
    expect(await page.locator("h1").textContent()).toBe("grep");
    await page.evaluate(() => {
      location.hash = "#/tools";
    });
    await page.waitForSelector("[aria-label=Tools] tbody tr");
    await page.locator("tr", { hasText: "bash" }).getByText("200 lines, 20,000 characters, 51,200 bytes").waitFor();
    expect(
      byTool(
        (await cells(page, "Tools")).map(([tool, _suggestion, ...row]) => [
          tool === '" "' ? " " : tool,
          ...row.slice(0, -1),
        ]),
      ),
    ).toEqual(
      byTool(
        tools.map(({ tool, count, mean, cut, read }) => [tool, `${count}`, `${mean}`, percent(cut), percent(read)]),
      ),
    );
    await page.close();
  });

  it("shows a session's requests and results as its events have them", async () => {
    const { page } = await open("#/sessions/agent");
    await page.waitForSelector(".lane");
    const events = sql<{ kind: string; receipt: string | null; more: string | null }>(
      "select kind, receipt, more from events where session = ? order by id",
      "agent",
    );
    const answered = events
      .filter(({ kind }) => kind === "request-answered")
      .map(({ more }) => JSON.parse(more ?? "{}"));
    const receipts = events.flatMap(({ receipt }) => (receipt === null ? [] : JSON.parse(receipt)));
    const printed = receipts.reduce((sum, { total }) => sum + total.bytes, 0);
    expect(await figure(page, "Results")).toEqual([receipts.length, printed]);
    expect(await figure(page, "Refused for size")).toEqual([
      events.filter(({ kind }) => kind === "overflow-detected").length,
    ]);
    expect(await page.locator(".lane").count()).toBe(receipts.length);
    // Of the arguments of a call, one alone is named by its value.
    expect(await page.locator(".lane-name").nth(1).textContent()).toBe("read_file src/1.ts");
    // The provider stated its window, and says nothing of a cache: what comes after a changed result is read anew.
    const [fill] = sql<{ fullest: number; breaks: number; lost: number }>(
      `with requests as (
        select id, lag(id) over (order by id) before, json_extract(more, '$.inputTokens') tokens,
          lag(json_extract(more, '$.inputTokens')) over (order by id) had
          from events where kind = 'request-answered' and session = 'agent'
      ), breaks as (
        select min(tokens, had) lost from requests where exists (
          select 1 from events, json_each(more, '$.changes') change where session = 'agent'
            and events.id > requests.before and events.id < requests.id and (kind = 'overflow-reduced' or (kind = 'request-pruned'
              and change.value ->> 'to' in ('trimmed', 'cleared') and coalesce(change.value ->> 'of', '') <> 'call')))
      )
      select (select max(tokens) / 20000.0 from requests) fullest, count(*) breaks, sum(lost) lost from breaks`,
    );
    expect(fill?.breaks).toBeGreaterThan(0);
    expect(await figure(page, "Cache breaks")).toEqual([fill?.breaks, fill?.lost]);
    expect((await words(page, "Fullest request"))[0]).toBe(percent(fill?.fullest ?? 0));
    const sent = answered.reduce((sum, { inputTokens }) => sum + inputTokens, 0);
    expect(await figure(page, "Sent in all")).toEqual([sent]);
    expect(await figure(page, "Read back")).toEqual([0]);
    // What came in has the tokens of its receipt. What was made shorter says that first, and then what is left.
    const sizes = await page
      .locator(".lane-size")
      .evaluateAll((all) => all.map((each) => Number(each.querySelector("data")?.value)));
    expect(sizes).toEqual(receipts.map(({ shown }) => shown.tokens));
    // Every result that an event names as shorter, and no other, has become shorter.
    const changed = events.flatMap(({ kind, more }): { call: string; of?: string; to?: string }[] => {
      const { changes = [] } = JSON.parse(more ?? "{}");
      return kind === "request-pruned" || kind === "overflow-reduced" ? changes : [];
    });
    const shorter = new Set(changed.filter(({ of, to }) => of !== "call" && to !== "insured").map(({ call }) => call));
    expect(shorter.size).toBeGreaterThan(0);
    const lanes = page.locator(".lane", { has: page.locator(".form-trimmed, .form-cleared") });
    expect(await lanes.count()).toBe(shorter.size);
    await page.getByRole("button", { name: "As a table" }).click();
    const requests = sql<Record<"weighed" | "estimated" | "tokens" | "system" | "results" | "isRecovered", number>>(
      `with answered as (select *, lag(id, 1, 0) over (order by id) before from events where kind = 'request-answered' and session = 'agent'),
        recovered as (select *, (select max(json_extract(e.more, '$.estimatedTokens')) from events e
          where e.kind = 'overflow-recovered' and e.session = 'agent' and e.id between before and answered.id) after from answered)
        select coalesce(after, json_extract(more, '$.request.tokens')) estimated, after is not null isRecovered,
          json_extract(more, '$.inputTokens') tokens, json_extract(more, '$.request.systemAndToolsTokens') system,
          json_extract(more, '$.request.resultTokens') results from recovered order by id`,
    );
    const table = await cells(page, "Requests");
    expect(table.map((row) => row.slice(3, 6))).toEqual(
      requests.map(({ estimated, tokens }) => [`${estimated}`, `${tokens}`, percent(tokens / 20_000)]),
    );
    // The layers of a bar: each result in the form that it has by then, in the provider's tokens.
    const forms = sql<{ request: number; form: string; tokens: number }>(
      `with answered as (select id, row_number() over (order by id) request from events where kind = 'request-answered' and session = 'agent'),
        results as (select id, call, json_extract(receipt, '$.shown.tokens') tokens, iif(json_extract(receipt, '$.omitted.bytes') > 0, 'cut', 'whole') form
          from events where session = 'agent' and receipt is not null),
        changes as (select events.id, change.value ->> 'call' call, change.value ->> 'fromChars' had, change.value ->> 'toChars' has,
          iif(kind = 'request-pruned', change.value ->> 'to', iif(change.value ->> 'toChars' < 400, 'cleared', 'trimmed')) form
          from events, json_each(more, '$.changes') change where session = 'agent' and kind in ('request-pruned', 'overflow-reduced')
            and coalesce(change.value ->> 'of', '') <> 'call' and (kind = 'overflow-reduced' or change.value ->> 'to' in ('trimmed', 'cleared')))
        select request, coalesce((select form from changes c where c.call = results.call and c.id < answered.id order by c.id desc limit 1), form) form,
          sum(tokens * coalesce((select 1.0 * has from changes c where c.call = results.call and c.id < answered.id order by c.id desc limit 1), 1)
            / coalesce((select 1.0 * had from changes c where c.call = results.call and c.id < answered.id order by c.id limit 1), 1)) tokens
          from answered join results on results.id < answered.id group by 1, 2`,
    );
    await page.getByRole("button", { name: "As a table" }).click();
    const bars = await page.locator(".fill g:has(> title)").evaluateAll((all) =>
      all.map((bar) => ({
        told: Object.fromEntries(
          [...(bar.firstChild?.textContent ?? "").matchAll(/^([a-z ,]+): ([\d,]+)$/gm)].map(([, name, count]) => [
            name,
            Number(count?.replaceAll(",", "")),
          ]),
        ) as Record<string, number>,
        heights: [...bar.querySelectorAll("rect")].map((rect) => Number(rect.getAttribute("height"))),
      })),
    );
    expect(bars.length).toBe(requests.length);
    expect(table.map((row) => Number(row[6]))).toEqual(
      bars.map(({ told }) =>
        Object.entries(told).reduce((sum, [name, tokens]) => sum + (name.startsWith("results") ? tokens : 0), 0),
      ),
    );
    // What happened on the way to each answer.
    const happened = sql<{ refusals: number; why: string | null }>(
      `with answered as (select id, lag(id, 1, 0) over (order by id) before from events where kind = 'request-answered' and session = 'agent')
        select (select count(*) from events e where e.kind = 'overflow-detected' and e.session = 'agent' and e.id between before and answered.id) refusals,
          (select json_extract(e.more, '$.why') from events e where e.kind = 'request-pruned' and e.session = 'agent'
            and e.id between before and answered.id order by e.id desc limit 1) why from answered order by id`,
    );
    expect(happened.some(({ refusals }) => refusals > 0) && happened.some(({ why }) => why !== null)).toBe(true);
    for (const [at, { refusals, why }] of happened.entries()) {
      const expected = [
        ...(why === null ? [] : [`made shorter: ${why}`]),
        ...(refusals === 0 ? [] : [`${refusals} refusal${refusals === 1 ? "" : "s"}, recovered`]),
      ];
      expect(String(table[at]?.[8]).replace(/(; )?cache broken: .*|^—$/, "")).toBe(expected.join("; "));
    }
    expect(table.filter((row) => String(row[8]).includes("cache broken")).length).toBe(fill?.breaks);
    expect(new Set(forms.map(({ form }) => form)).size).toBeGreaterThan(2);
    for (const [at, { estimated, tokens, system, results, isRecovered }] of requests.entries()) {
      const own = forms.filter(({ request }) => request === at + 1);
      const known = own.reduce((sum, each) => sum + each.tokens, 0);
      const scaled = (count: number) => (count * tokens) / estimated;
      const inResults = Math.min(tokens - scaled(system), scaled(isRecovered ? known : results));
      const expected = [
        ["system and tools", scaled(system)],
        ["messages", tokens - scaled(system) - inResults],
        ...own.map(({ form, tokens: share }) => [`results, ${form}`, (share * inResults) / known] as const),
      ] as const;
      const { told = {}, heights = [] } = bars[at] ?? {};
      for (const [name, count] of expected) {
        expect(
          Math.abs((told[name] ?? 0) - count),
          `request ${at + 1}, ${name}: ${told[name]}, not ${count}`,
        ).toBeLessThan(4);
      }
      // A layer is drawn as high as its tokens are many, on the scale of the window.
      const perToken = (280 - 18 - 24) / (20_000 * 1.05);
      const layers = Object.values(told);
      expect(
        heights.map((height, layer) => Math.abs(height - Math.max(0.5, (layers[layer] ?? 0) * perToken)) < 0.01),
      ).toEqual(layers.map(() => true));
    }
    await page.close();
  });

  it("counts the hours that one asked for, draws how each figure went, and says where the rest is", async () => {
    const [span] = sql<{ first: number; last: number; calls: number }>(
      `select min(at_ms) / 3600000 first, max(at_ms) / 3600000 last, count(*) calls from events
        where kind in ('output-clamped', 'output-passed') and json_extract(more, '$.isRecut') is null`,
    );
    const { first = 0, last = 0, calls } = span ?? {};
    const at = async (hour: number) => {
      const page = await browser.newPage();
      page.setDefaultTimeout(120_000);
      await page.addInitScript(
        (nowMs) => {
          Date.now = () => nowMs;
        },
        hour * 3_600_000 + 60_000,
      );
      await page.goto(server.url);
      return page;
    };
    const full = await at(first + 24);
    expect((await figure(full, "Tools printed"))[2]).toBe(calls);
    await full.waitForSelector(".sparkline polyline");
    // The first of 25 hours has something, so that no line begins at the bottom, and the last has nothing.
    const lines = await full
      .locator(".sparkline polyline")
      .evaluateAll((all) =>
        all.map((line) => (line.getAttribute("points") ?? "").split(" ").map((point) => point.split(",").map(Number))),
      );
    const ofHours = sql<Record<string, number>>(
      `select at_ms / 3600000 hour, sum(iif(receipt is null or json_extract(more, '$.isRecut') is not null or ${isRerun}, 0, ${printed})) printed,
        sum(iif(receipt is null or json_extract(more, '$.isRecut') is not null, 0, json_extract(receipt, '$.shown.tokens'))) shown,
        sum(iif(json_extract(more, '$.reads') = 'model', json_extract(more, '$.tokens'), 0)) tokens,
        sum(coalesce(json_extract(more, '$.reads') = 'model', 0)) reads from events group by 1`,
    );
    const series = [
      ({ printed }: Record<string, number>) => printed ?? 0,
      ({ shown }: Record<string, number>) => shown ?? 0,
      ({ printed = 0, shown = 0, tokens = 0 }: Record<string, number>) => printed - shown - tokens,
      ({ reads }: Record<string, number>) => reads ?? 0,
    ];
    expect(lines.map((line) => line.length)).toEqual([25, 25, 25, 25]);
    for (const [which, valueOf] of series.entries()) {
      const most = Math.max(...ofHours.map(valueOf));
      for (const [place, [x, y]] of (lines[which] ?? []).entries()) {
        const found = ofHours.find(({ hour }) => hour === first + place);
        expect(x).toBeCloseTo((place / 24) * 100, 3);
        expect(y).toBeCloseTo(22 - 20 * ((found === undefined ? 0 : Math.max(0, valueOf(found))) / most), 3);
      }
    }
    const none = await at(last + 25);
    await none.getByText("Nothing was recorded in the last 24 hours").waitFor();
    await none.getByRole("link", { name: "All that is recorded" }).click();
    expect((await figure(none, "Tools printed"))[2]).toBe(calls);
    await Promise.all([full.close(), none.close()]);
  });

  it("writes times in the zone of who reads them", async () => {
    const timeZone = "Asia/Kolkata";
    const page = await browser.newPage({ timezoneId: timeZone, locale: "en-US" });
    page.setDefaultTimeout(120_000);
    const plain = (text: string | null | undefined) => text?.replaceAll(/\s/g, " ");
    // A person who looks at a page does not use the session.
    const [seen] = sql<{ lastMs: number }>(
      "select max(at_ms) lastMs from events where session = 'refused twice' and coalesce(json_extract(more, '$.reads'), '') <> 'person'",
    );
    await page.addInitScript(
      (nowMs) => {
        Date.now = () => nowMs;
      },
      (seen?.lastMs ?? 0) + 150 * 60_000,
    );
    await page.goto(`${server.url}/#/sessions`);
    const row = page.locator("tbody tr", { hasText: "refused twice" });
    expect(await row.locator("time").textContent()).toBe("2 hours ago");
    const local = (ms: number, timeStyle: "long" | "short") =>
      plain(new Date(ms).toLocaleString("en-US", { dateStyle: "medium", timeStyle, timeZone }));
    expect(plain(await row.locator("time").getAttribute("title"))).toBe(local(seen?.lastMs ?? 0, "long"));
    await page.goto(`${server.url}/#/overview?range=all`);
    await page.getByRole("button", { name: "As a table" }).click();
    const [from] = sql<{ hour: number }>("select min(at_ms) / 3600000 hour from events where receipt is not null");
    expect(plain((await cells(page, "The figures of the chart"))[0]?.[0])).toBe(
      local((from?.hour ?? 0) * 3_600_000, "short"),
    );
    await page.close();
  });

  it("tells the life of each result: when it came, when it was made shorter, and what was left", async () => {
    const { page } = await open("#/sessions/agent");
    await page.waitForSelector(".lane");
    const requests =
      "(select count(*) from events r where r.kind = 'request-answered' and r.session = 'agent' and r.id < events.id)";
    const came = sql<Record<"call" | "tokens" | "omitted" | "request", number>>(
      `select call, json_extract(receipt, '$.shown.tokens') tokens, json_extract(receipt, '$.omitted.bytes') omitted, ${requests} request
        from events where session = 'agent' and receipt is not null order by id`,
    );
    const changes = sql<Record<"call" | "had" | "has" | "request", number> & { form: string }>(
      `select change.value ->> 'call' call, change.value ->> 'fromChars' had, change.value ->> 'toChars' has, ${requests} request,
        iif(kind = 'request-pruned', change.value ->> 'to', iif(change.value ->> 'toChars' < 400, 'cleared', 'trimmed')) form
        from events, json_each(more, '$.changes') change where session = 'agent' and kind in ('request-pruned', 'overflow-reduced')
          and coalesce(change.value ->> 'of', '') <> 'call' and (kind = 'overflow-reduced' or change.value ->> 'to' in ('trimmed', 'cleared'))
        order by events.id`,
    );
    const [{ count = 1 } = {}] = sql<{ count: number }>(
      "select count(*) count from events where kind = 'request-answered' and session = 'agent'",
    );
    expect(await page.locator("h1 + p").textContent()).toContain(`${count} requests`);
    const english = new Intl.NumberFormat("en");
    const expected = came.map(({ call, tokens, omitted, request }) => {
      const steps = [{ request, tokens, form: omitted > 0 ? "cut as it came" : "whole" }];
      for (const change of changes.filter((each) => each.call === call)) {
        const had = steps.at(-1)?.tokens ?? 0;
        steps.push({ ...change, tokens: Math.round((had * change.has) / change.had) });
      }
      return steps;
    });
    expect(Math.max(...expected.map(({ length }) => length))).toBeGreaterThan(1);
    const lives = await page.locator(".lane .unheard").allTextContents();
    expect(lives).toEqual(
      expected.map((steps) =>
        steps
          .map((step) => `${step.form} from request ${step.request + 1} on, ${english.format(step.tokens)} tokens`)
          .join("; "),
      ),
    );
    const placed = await page
      .locator(".lane-track")
      .evaluateAll((all) =>
        all.map((track) =>
          [...track.querySelectorAll<HTMLElement>(".lane-part")].map(({ style }) =>
            [style.left, style.width].map(parseFloat),
          ),
        ),
      );
    for (const [lane, steps] of expected.entries()) {
      for (const [at, { request }] of steps.entries()) {
        const end = steps[at + 1]?.request ?? count;
        const [left, width] = placed[lane]?.[at] ?? [];
        expect(left).toBeCloseTo((request / count) * 100, 1);
        expect(width).toBeCloseTo((Math.max(0, end - request) / count) * 100, 1);
      }
    }
    // A request stands above its place in the lanes, so that both are one picture.
    const middles = await page
      .locator(".fill g:has(> title)")
      .evaluateAll((all) =>
        all
          .map((bar) => bar.querySelector("rect")?.getBoundingClientRect())
          .map((box) => (box ? box.x + box.width / 2 : 0)),
      );
    const track = await page.locator(".lane-track").first().boundingBox();
    const { x: trackX = 0, width: trackWidth = 0 } = track ?? {};
    expect(middles.length).toBe(count);
    for (const [at, middle] of middles.entries())
      expect(Math.abs(middle - (trackX + (trackWidth * (at + 0.5)) / count))).toBeLessThan(2);
    // One click shows what the model read, and its address shows it again. The whole output is one more away.
    await page.locator(".lane").first().click();
    await page.locator(".life .text-line").first().waitFor();
    const read = await page.locator(".life .text-line").allTextContents();
    await page.reload();
    await page.locator(".life .text-line").first().waitFor();
    expect(await page.locator(".life .text-line").allTextContents()).toEqual(read);
    expect(await page.locator(".lane[aria-expanded=true]").count()).toBe(1);
    await page.getByRole("link", { name: "See the output" }).click();
    await page.waitForSelector(".text-row .text-line:not(:empty)");
    const [own] = sql<{ artifact: string; id: number; lines: number }>(
      "select artifact, id, json_extract(receipt, '$.shown.lines') lines from events where session = 'agent' and receipt is not null order by id limit 1",
    );
    expect(read.length).toBe(own?.lines);
    expect(read.at(-1)).toContain(own?.artifact);
    expect(page.url()).toContain(`#/outputs/${own?.artifact}?session=agent&event=${own?.id}`);
    // Other sessions saved the same text later: it is this one's page all the same.
    const [saving] = sql<{ session: string }>(
      "select session from events where artifact = ? and receipt is not null order by id desc limit 1",
      own?.artifact ?? "",
    );
    expect(saving?.session).not.toBe("agent");
    expect(await page.locator(".note").first().textContent()).toContain(`In its session it was ${lives[0]}`);
    await page.getByRole("link", { name: "agent" }).click();
    await page.waitForSelector(".lane");
    expect(page.url()).toContain("#/sessions/agent");
    await page.close();
  });

  it("reads all of a session of thousands of events, and says what it leaves out of the chart", async () => {
    const session = "long run";
    const about = { session, tool: null, call: null, artifact: null, receipt: null, kind: "request-answered" as const };
    await admitOne(session, "before the first request");
    await Promise.all(
      Array.from({ length: 2100 }, (_none, at) =>
        ledger.record({ ...about, atMs: Date.now(), more: { wire: "anthropic", model: "m", inputTokens: 1000 + at } }),
      ),
    );
    await admitOne(session, "after the last request");
    const { page } = await open("#/sessions/long%20run");
    await page.waitForSelector(".fill");
    const [sums] = sql<{ count: number; tokens: number }>(
      "select count(*) count, sum(json_extract(more, '$.inputTokens')) tokens from events where session = 'long run' and kind = 'request-answered'",
    );
    expect(sums?.count).toBe(2100);
    expect(await figure(page, "Sent in all")).toEqual([sums?.tokens]);
    expect(await page.locator("h1 + p").textContent()).toContain("2,100 requests");
    expect(await page.locator(".fill title").first().textContent()).toMatch(/^Request 1701,/);
    await page.getByText("The last 400 of 2,100 requests. The table has all.").waitFor();
    // The lanes are of the same requests.
    const parts = await page
      .locator(".lane-part:not(.sample)")
      .evaluateAll((all) => all.map((part) => [(part as HTMLElement).style.left, (part as HTMLElement).style.width]));
    expect(parts).toEqual([
      ["0%", "100%"],
      ["100%", "0%"],
    ]);
    await page.close();
  });

  it("comes into the next hour while it is open", async () => {
    const { page } = await open("#/overview");
    await page.waitForSelector(".chart canvas");
    await page.getByText("● live").waitFor();
    // The table is closed again when a new hour is asked for.
    const lastHour = () =>
      page.evaluate(() => {
        const hours = document.querySelectorAll("[aria-label='The figures of the chart'] tbody th");
        const asTable = [...document.querySelectorAll("button")].find((each) => each.textContent === "As a table");
        if (hours.length === 0) asTable?.click();
        return [...hours].at(-1)?.textContent ?? "";
      });
    await expect.poll(lastHour).not.toBe("");
    const before = await lastHour();
    await page.evaluate(() => {
      const { now } = Date;
      Date.now = () => now() + 3_600_000;
    });
    await admitOne("an hour later", "one line");
    await expect.poll(async () => ["", before].includes(await lastHour())).toBe(false);
    await page.close();
  });

  it("tells what a provider's cache gave, where it broke and what that cost", async () => {
    const { page } = await open(`#/sessions/${CACHED}`);
    await page.waitForSelector(".lane");
    const [sums] = sql<Record<"sent" | "cached" | "breaks" | "lost", number>>(
      `with requests as (
        select json_extract(more, '$.inputTokens') tokens, json_extract(more, '$.cacheReadTokens') cached,
          lag(json_extract(more, '$.inputTokens')) over (order by id) had from events where kind = 'request-answered' and session = ?
      )
      select sum(tokens) sent, sum(cached) cached, sum(cached < had * 0.9 and had >= 1024) breaks,
        sum(iif(cached < had * 0.9 and had >= 1024, min(had, tokens) - cached, 0)) lost from requests`,
      CACHED,
    );
    const { sent = 0, cached = 0, breaks, lost = 0 } = sums ?? {};
    expect(breaks).toBe(1);
    expect(await words(page, "Sent in all")).toContain(`${percent(cached / sent)} from the cache`);
    expect(await figure(page, "Cache breaks")).toEqual([breaks, lost]);
    expect((await words(page, "Cache breaks"))[1]).toContain(`about $${((lost * 3.45) / 1e6).toFixed(4)}`);
    expect(await page.locator(".break-label").count()).toBe(1);
    await page.getByRole("button", { name: "As a table" }).click();
    const told = sql<{ cached: number }>(
      "select json_extract(more, '$.cacheReadTokens') cached from events where kind = 'request-answered' and session = ? order by id",
      CACHED,
    );
    expect((await cells(page, "Requests")).map((row) => row[7])).toEqual(told.map((each) => String(each.cached)));
    await page.close();
  });

  it("counts what was read back in a session without a request, and not what a person read", async () => {
    const session = "<b>bad</b>";
    const [row] = await ledger.sessions({ session });
    const lastMs = row?.lastSeenMs ?? 0;
    const about = { session, tool: null, call: null, artifact: ids["bad"] ?? "", receipt: null };
    await ledger.record({ kind: "artifact-recalled", atMs: lastMs + 60_000, ...about, more: { reads: "person" } });
    const { page } = await open(`#/sessions/${encodeURIComponent(session)}`);
    await page.waitForSelector(".lane");
    const [read] = sql<{ count: number }>(
      "select count(*) count from events where kind in ('artifact-recalled', 'artifact-searched') and json_extract(more, '$.reads') = 'model' and session = ?",
      session,
    );
    expect(read?.count).toBe(1);
    expect(await figure(page, "Read back")).toEqual([1]);
    // What no request tells is not said to be nothing, nor of a request.
    expect(await page.locator("h1 + p").textContent()).toContain(
      "No request of this session came through the gateway.",
    );
    for (const name of ["Sent in all", "Fullest request", "Cache breaks"])
      expect(await words(page, name)).toEqual(["—", "not known"]);
    expect((await page.locator(".lane").allTextContents()).join("\n")).toMatch(
      /cut as it came, [\d,]+ tokens; read back$/m,
    );
    // Nor is the last of the session what a person did.
    expect(await page.locator("h1 + p time").last().getAttribute("datetime")).toBe(new Date(lastMs).toISOString());
    await page.close();
  });

  it("lists sessions and outputs with the sums of their events", async () => {
    const { page } = await open("#/sessions");
    await page.waitForSelector("tbody tr");
    const sessions = sql<Record<string, string | number>>(
      `select session, sum(kind like 'output-%') calls, sum(kind = 'output-clamped' and json_extract(receipt, '$.omitted.bytes') > 0) cut,
        sum(kind in ('artifact-recalled', 'artifact-searched') and json_extract(more, '$.reads') = 'model') recalls,
        coalesce(sum(json_extract(receipt, '$.total.bytes')), 0) printed, coalesce(sum(json_extract(receipt, '$.shown.bytes')), 0) shown,
        sum(coalesce(iif(${isRerun}, 0, ${printed}) - json_extract(receipt, '$.shown.tokens'), 0))
          - sum(iif(kind in ('artifact-recalled', 'artifact-searched') and json_extract(more, '$.reads') = 'model', json_extract(more, '$.tokens'), 0)) saved
        from events where session is not null group by session`,
    );
    const listed = await cells(page, "Sessions");
    const inOrder = (rows: unknown[][]) => rows.map((row) => row.join(" ")).toSorted();
    expect(inOrder(listed.map(([session, _seen, ...row]) => [session, ...row]))).toEqual(
      inOrder(sessions.map((row) => Object.values(row))),
    );
    await page.evaluate(() => {
      location.hash = "#/outputs";
    });
    await page.waitForSelector("[aria-label='Saved outputs'] tbody tr");
    const links = await page
      .locator("[aria-label='Saved outputs'] td:first-child a")
      .evaluateAll((all) => all.map((link) => link.getAttribute("href")?.split(/[/?]/)[2]));
    const outputs = await cells(page, "Saved outputs");
    const sizes = new Map(
      sql<{ artifact: string; bytes: number; lines: number }>(
        "select artifact, json_extract(receipt, '$.total.bytes') bytes, json_extract(receipt, '$.total.lines') lines from events where receipt is not null and artifact is not null",
      ).map(({ artifact, bytes, lines }) => [artifact, [`${bytes}`, `${lines}`]]),
    );
    const known = links.flatMap((id, at) => (sizes.has(id ?? "") ? { id: id ?? "", row: outputs[at] ?? [] } : []));
    expect(known.length).toBeGreaterThan(30);
    for (const { id, row } of known) expect(row.slice(2, 4)).toEqual(sizes.get(id));
    const about = new Map(
      sql<{ artifact: string; tool: string; session: string }>(
        "select artifact, tool, session from events where receipt is not null",
      ).map(({ artifact, tool, session }) => [artifact, [tool, session]]),
    );
    for (const { id, row } of known.filter(({ row }) => row[0] === "grep"))
      expect([row[0], row[4]]).toEqual(about.get(id));
    await page.close();
  });

  it("shows a tool's sizes by its receipts, and each refusal by its events", async () => {
    const { page } = await open("#/tools/grep");
    // All outputs of one are cut, and none of the other's.
    for (const tool of ["read_file", "grep"]) {
      await page.evaluate((name) => {
        location.hash = `#/tools/${name}`;
      }, tool);
      await page.locator("h1", { hasText: tool }).waitFor();
      await page.waitForSelector(".sizes tr");
      const receipts = sql<{ bytes: number; omitted: number }>(
        "select json_extract(receipt, '$.total.bytes') bytes, json_extract(receipt, '$.omitted.bytes') omitted from events where receipt is not null and tool = ?",
        tool,
      );
      const cut = receipts.filter(({ omitted }) => omitted > 0).length;
      expect(await figure(page, "Outputs")).toEqual([
        receipts.length,
        receipts.reduce((sum, { bytes }) => sum + bytes, 0),
      ]);
      expect(await figure(page, "Cut")).toEqual([cut]);
      expect((await words(page, "Cut"))[0]).toBe(percent(cut / receipts.length));
      expect(await figure(page, "Read back")).toEqual([0]);
      expect((await words(page, "Read back"))[0]).toBe("0 %");
      const bins = new Map<number, [number, number]>();
      for (const { bytes, omitted } of receipts) {
        let top = 256;
        while (top < bytes) top *= 2;
        const [all, some] = bins.get(top) ?? [0, 0];
        bins.set(top, [all + 1, some + (omitted > 0 ? 1 : 0)]);
      }
      const rows = (await cells(page, "Sizes")).filter((row) => row[2] !== "0");
      expect(rows.map(([top, _bar, ...counts]) => [Number(top?.split(" ")[0]) * 1024, ...counts.map(Number)])).toEqual(
        [...bins].toSorted(([one], [other]) => one - other).map(([top, counts]) => [top, ...counts]),
      );
    }
    // Every limit that is in force is in the lines to paste, not only those that are most usual: nobody missed what was cut, so half of it.
    const { limits } = (await (await fetch(`${server.url}/api/policy/grep`)).json()) as {
      limits: Record<string, number>;
    };
    const pasted = (await page.locator(".config").textContent()) ?? "";
    expect(Object.entries(limits).filter(([name, limit]) => !pasted.includes(`${name}: ${limit / 2}`))).toEqual([]);
    const english = new Intl.NumberFormat("en");
    const now = (await words(page, "Limits now")).join(" ");
    expect(Object.values(limits).filter((limit) => !now.includes(`${english.format(limit)} `))).toEqual([]);
    const atLimit = page.locator("tr.at-limit");
    const chars = Math.min(limits["maxBytes"] ?? Infinity, limits["maxChars"] ?? Infinity);
    expect(await atLimit.locator("th").textContent()).toBe(`${2 ** Math.ceil(Math.log2(chars / 1024))}.0 KiB`);
    // In the words of the card above it.
    expect(await atLimit.textContent()).toContain(
      `in this row: the limit of ${english.format(chars)} characters, ${(chars / 1024).toPrecision(3)} KiB or more`,
    );
    await page.evaluate(() => {
      location.hash = "#/overflows";
    });
    await page.waitForSelector(".incident");
    const events = sql<{ kind: string; more: string }>(
      "select kind, more from events where kind like 'overflow-%' order by id",
    ).map(({ kind, more }) => ({ event: kind, ...JSON.parse(more) }));
    // Each ends with one of these, and what comes after it is another one.
    const ends = events.filter(
      ({ event, isKept }) => event === "overflow-recovered" || event === "overflow-failed" || isKept === true,
    );
    expect(ends.length).toBeGreaterThan(2);
    expect(await page.locator(".incident").count()).toBe(ends.length);
    // Each step that made a request smaller has a bar of what was left, the newest request first.
    const rungs = sql<{ rest: number }>(
      `select round(100.0 * json_extract(more, '$.leftTokens') / (json_extract(more, '$.leftTokens') + json_extract(more, '$.freedTokens')), 2) rest
        from events where kind = 'overflow-reduced'`,
    );
    const bars = await page
      .locator(".rung-bar > span:first-child")
      .evaluateAll((all) =>
        all.map((bar) => Math.round(Number.parseFloat((bar as HTMLElement).style.width) * 100) / 100),
      );
    expect(bars.toSorted()).toEqual(rungs.map(({ rest }) => rest).toSorted());
    const first = events.find(({ event }) => event === "overflow-detected");
    const told = (estimate: number) =>
      english.format(Math.round((estimate * first.observedTokens) / first.estimatedTokens));
    const text = (await page.locator(".incident").last().textContent()) ?? "";
    expect(text).toContain(first.evidence);
    expect(text).toContain(`${english.format(first.observedTokens)} tokens, 20,000 allowed`);
    expect(text).toContain(`Send 1 was refused: about ${english.format(first.observedTokens)} tokens`);
    expect(text).toContain(`Our own estimate was ${english.format(first.estimatedTokens)} tokens`);
    const reduced = events.find(({ event }) => event === "overflow-reduced");
    expect(text).toContain(`${told(reduced.leftTokens + reduced.freedTokens)} → ${told(reduced.leftTokens)} tokens`);
    const recovered = events.find(({ event }) => event === "overflow-recovered");
    expect(text).toContain(`after ${recovered.sends} sends, with about ${told(recovered.estimatedTokens)} tokens`);
    await page.close();
  });

  it("shows what is new by itself, without being asked again", async () => {
    const { page } = await open("#/nothing");
    /** Opens a page and waits until it has its list and follows what happens. */
    const follow = async (hash: string) => {
      const following = page.waitForResponse(/\/api\/events\/live/);
      await page.evaluate((to) => {
        location.hash = to;
      }, hash);
      await following;
      await page.waitForSelector("tbody tr");
    };
    await follow("#/sessions");
    await admitOne("just begun", "one line");
    await page.getByRole("link", { name: "just begun" }).waitFor();
    await follow("#/outputs");
    await page.waitForSelector("[aria-label='Saved outputs'] tbody tr");
    await admitOne("just cut", numbered(5000).join("\n"));
    await page.getByRole("link", { name: "just cut" }).waitFor();
    await page.close();
  });

  it("shows an output's sizes, every gap of its receipt, and the text as the model read it", async () => {
    const { page } = await open(`#/outputs/${ids["many"]}`);
    await page.waitForSelector(".pieces li");
    const [event] = sql<{ receipt: string }>(
      "select receipt from events where kind = 'output-clamped' and artifact = ?",
      ids["many"] ?? "",
    );
    const receipt = JSON.parse(event?.receipt ?? "{}");
    expect(await figure(page, "Whole output")).toEqual([receipt.total.bytes, 1_000_000]);
    expect(await figure(page, "The model read")).toEqual([receipt.shown.bytes, receipt.shown.tokens]);
    expect(await figure(page, "Of the source kept")).toEqual([receipt.kept.lines]);
    expect(receipt.kept.bytes / receipt.total.bytes).toBeLessThan(0.001);
    expect((await words(page, "Of the source kept"))[0]).toBe("< 0.1 %");
    expect((await words(page, "Decided by")).join(" ")).toContain(`${receipt.strategy} `);
    expect((await words(page, "Decided by"))[1]).toContain(`the limit of ${receipt.cutBy}`);
    const gaps = await page.locator(".pieces button.gap .piece-lines").allTextContents();
    const english = new Intl.NumberFormat("en");
    expect(gaps).toEqual(
      receipt.cuts.map(({ fromLine, toLine }: { fromLine: number; toLine: number }) =>
        fromLine === toLine ? english.format(fromLine) : `${english.format(fromLine)}–${english.format(toLine)}`,
      ),
    );
    const sizes = await page.locator(".pieces button.gap").allTextContents();
    const mib = (bytes: number) =>
      bytes < 1024
        ? `${bytes} B`
        : bytes < 2 ** 20
          ? `${(bytes / 1024).toPrecision(3)} KiB`
          : `${(bytes / 2 ** 20).toPrecision(3)} MiB`;
    for (const [at, { bytes }] of receipt.cuts.entries())
      expect(sizes[at]).toMatch(new RegExp(`not shown, ${mib(bytes)}$`));
    await page.getByLabel("Go to line").fill("1");
    await page.keyboard.press("Enter");
    await page.waitForSelector('[data-line="1"].lit');
    // The whole in one strip: the first, the last and no other end of it was shown.
    const colors = await page.locator(".minimap canvas").evaluate((element) => {
      const canvas = element as HTMLCanvasElement;
      const colorAt = (y: number) => canvas.getContext("2d")?.getImageData(2, y, 1, 1).data.slice(0, 3).join(" ");
      return [0, canvas.height / 4, canvas.height - 1].map(colorAt);
    });
    expect(colors[2]).toBe(colors[0]);
    expect(colors[1]).not.toBe(colors[0]);
    const strip = await page.locator(".minimap").boundingBox();
    await page.mouse.click((strip?.x ?? 0) + 4, (strip?.y ?? 0) + (strip?.height ?? 0) * 0.75);
    await expect
      .poll(async () => Number(await page.locator(".text-row").first().getAttribute("data-line")))
      .toBeGreaterThan(740_000);
    expect(Number(await page.locator(".text-row").first().getAttribute("data-line"))).toBeLessThan(760_000);
    await page.keyboard.press("m");
    await page.waitForSelector(".note");
    expect(await page.locator(".note").textContent()).toContain("Exactly what the model read");
    // The address says so, and the marker is there to its end.
    const again = await open(page.url().slice(page.url().indexOf("#")), 390);
    const text = await ready(again.page.locator(".wrapped"));
    expect(await text.evaluate((box) => box.scrollWidth - box.clientWidth)).toBeLessThanOrEqual(0);
    expect((await text.locator(".marker").allTextContents()).join("\n")).toContain(ids["many"]);
    await page.keyboard.press("m");
    await page.waitForSelector(".minimap");
    expect(page.url()).not.toContain("as=");
    await Promise.all([page.close(), again.page.close()]);
  });

  it("says why a text is not made again as the model read it: secrets were replaced", async () => {
    const log = numbered(3000).with(0, "the token is ghp_16C7e42F292c6912E7710c838347Ae178B4a");
    await admitOne("secretive", log.join("\n"));
    const [row] = sql<{ artifact: string; count: number }>(
      "select artifact, json_extract(receipt, '$.storedRedactions.count') count from events where session = 'secretive' and kind = 'output-clamped'",
    );
    expect(row?.count).toBe(1);
    const { page } = await open(`#/outputs/${row?.artifact}?as=model`);
    await page.getByText("1 secret was replaced before it was saved. Its marker may name another way").waitFor();
    await page.close();
  });

  it("lights the lines that the model saw, dims the others, and says so in its list of pieces and gaps", async () => {
    const { page } = await open(`#/outputs/${ids["scattered"]}`);
    await page.waitForSelector(".pieces li");
    const cuts = sql<{ from: number; to: number; bytes: number }>(
      `select cut.value ->> 'fromLine' "from", cut.value ->> 'toLine' "to", cut.value ->> 'bytes' bytes
        from events, json_each(receipt, '$.cuts') cut where kind = 'output-clamped' and artifact = ?`,
      ids["scattered"] ?? "",
    );
    expect(cuts.length).toBeGreaterThan(15);
    const isCut = (line: number) => cuts.some(({ from, to }) => from <= line && line <= to);
    const english = new Intl.NumberFormat("en");
    const range = (from: number, to: number) =>
      from === to ? english.format(from) : `${english.format(from)}–${english.format(to)}`;
    const pieces = [{ from: 0, to: 0 }, ...cuts].flatMap(({ to }, at) => {
      const next = cuts[at]?.from ?? 20_001;
      return next > to + 1 ? range(to + 1, next - 1) : [];
    });
    expect(await page.locator(".pieces button.kept .piece-lines").allTextContents()).toEqual(pieces);
    // One after the other, and back.
    const starts = [1, ...cuts.flatMap(({ from, to }) => [from, to + 1])].filter((line) => line <= 20_000);
    await page.getByLabel("Go to line").fill("1");
    await page.keyboard.press("Enter");
    for (const [key, at] of [
      ["n", 1],
      ["n", 2],
      ["n", 3],
      ["p", 2],
      ["p", 1],
    ] as const) {
      await page.keyboard.press(key);
      await page.waitForSelector(`.selected[data-line="${starts[at]}"]`);
    }
    // A key that is held down changes the address more often than browsers let it: one goes on all the same.
    await page.evaluate(() => {
      history.replaceState = () => {
        throw new DOMException("too often", "SecurityError");
      };
    });
    await page.getByLabel("Go to line").fill(String(starts[10]));
    await page.keyboard.press("Enter");
    await page.waitForSelector(`.selected[data-line="${starts[10]}"]`);
    // At the borders of some gaps.
    for (const { from, to, bytes } of [3, 9, 15].flatMap((at) => cuts[at] ?? [])) {
      await page.getByLabel("Go to line").fill(String(from));
      await page.keyboard.press("Enter");
      await page.waitForSelector(`.selected[data-line="${from}"]`);
      const seen = await page
        .locator(".text-row")
        .evaluateAll((all) =>
          all.map((row) => ({ line: Number((row as HTMLElement).dataset["line"]), classes: row.className })),
        );
      expect(seen.filter(({ line, classes }) => classes.includes("cut") !== isCut(line))).toEqual([]);
      expect(seen.filter(({ line, classes }) => classes.includes("lit") === isCut(line))).toEqual([]);
      expect(new Set(seen.map(({ line }) => isCut(line))).size).toBe(2);
      const heading =
        from === to ? `part of line ${english.format(from)}` : `lines ${english.format(from)} to ${english.format(to)}`;
      const size = bytes < 1024 ? `${bytes} B` : `${(bytes / 1024).toPrecision(3)} KiB`;
      expect((await page.locator(".text-heading").allTextContents()).join("\n")).toContain(
        `Not shown: ${heading}, ${size}`,
      );
    }
    await page.close();
  });

  it("says on a phone that a table goes on to the right, and breaks the reasons of a text into rows", async () => {
    const { page } = await open("#/sessions", 390);
    for (const [hash, label] of [
      ["#/sessions", "Sessions"],
      ["#/outputs", "Saved outputs"],
      ["#/overview?range=all", "Sums by tool"],
    ] as const) {
      await page.evaluate((to) => {
        location.hash = to;
      }, hash);
      const box = page.getByRole("region", { name: label, exact: true });
      const frame = page.locator(".table-frame", { has: box });
      await ready(frame.and(page.locator(".more")));
      await box.evaluate((element) => element.scrollTo(element.scrollWidth, 0));
      await ready(frame.and(page.locator(":not(.more)")));
      await box.evaluate((element) => element.scrollTo(0, 0));
      await ready(frame.and(page.locator(".more")));
      await page.setViewportSize({ width: 1900, height: 844 });
      await ready(frame.and(page.locator(":not(.more)")));
      await page.setViewportSize({ width: 390, height: 844 });
    }
    const [cut] = sql<{ line: number }>(
      "select json_extract(receipt, '$.cuts[0].fromLine') line from events where kind = 'output-clamped' and artifact = ?",
      ids["many"] ?? "",
    );
    await page.setViewportSize({ width: 240, height: 844 });
    await page.evaluate((to) => {
      location.hash = to;
    }, `#/outputs/${ids["many"]}?line=${cut?.line}`);
    await page.locator(".text-heading .gap.more").first().waitFor();
    const [text, ends, right] = await page.locator(".text").evaluate((box) => {
      const all = [...box.querySelectorAll(".text-heading span")];
      const sides = all.map((each) => each.getBoundingClientRect().right);
      return [all.map((each) => each.textContent).join(" "), Math.max(...sides), box.getBoundingClientRect().right];
    });
    expect(text).toMatch(/Not shown: lines [\d,]+ to [\d,]+, [\d.]+ MiB/);
    expect(ends).toBeLessThanOrEqual(right);
    await page.close();
  });

  it("turns a page by a page of rows in a text of any size", async () => {
    const { page } = await open(`#/outputs/${ids["many"]}?line=500000`);
    const ofScreen = () =>
      page.locator(".text-row").evaluateAll((all) => all.map((row) => Number((row as HTMLElement).dataset["line"])));
    await page.waitForSelector('.selected[data-line="500000"]');
    const before = await ofScreen();
    await page.locator(".text").focus();
    await page.keyboard.press("PageDown");
    await expect.poll(async () => (await ofScreen())[0]).toBeGreaterThan((before[0] ?? 0) + 10);
    expect((await ofScreen())[0]).toBeLessThanOrEqual(before.at(-1) ?? 0);
    await page.keyboard.press("PageUp");
    await expect.poll(async () => Math.abs(((await ofScreen())[0] ?? 0) - (before[0] ?? 0))).toBeLessThan(3);
    await page.close();
  });

  it("says that lines cannot be read, and reads them once that is over", async () => {
    const { page } = await open("#/");
    const body = JSON.stringify({ error: { code: "store-failed", message: "The store does not answer." } });
    await page.route("**/lines?**", (route) => route.fulfill({ status: 503, contentType: "application/json", body }));
    await page.goto(`${server.url}/#/outputs/${ids["scattered"]}`);
    await page
      .getByRole("alert")
      .filter({ hasText: "These lines cannot be read: The store does not answer." })
      .waitFor();
    await page.unroute("**/lines?**");
    await page.waitForSelector(".text-row .text-line:not(:empty)");
    await page.getByRole("alert").waitFor({ state: "detached" });
    await page.close();
  });

  it("draws the window that the provider stated, in the provider's tokens", async () => {
    const { page } = await open("#/sessions/agent");
    await page.waitForSelector(".fill");
    const titles = await page.locator(".fill title").allTextContents();
    for (const title of titles) expect(title).toMatch(/tokens of 20,000\nas the provider counted/);
    expect(await page.locator(".legend").first().textContent()).toContain("refused for size");
    await page.close();
  });

  it("goes to any of a million lines, and finds one", async () => {
    const { page } = await open(`#/outputs/${ids["many"]}?session=${encodeURIComponent("<b>many</b>")}`);
    await page.waitForSelector(".text-row .text-line:not(:empty)");
    for (const line of [500_000, 1_000_000, 3, 999_999]) {
      await page.getByLabel("Go to line").fill(String(line));
      await page.keyboard.press("Enter");
      await page.waitForFunction(
        (number) => document.querySelector(`[data-line="${number}"] .text-line`)?.textContent,
        line,
      );
      expect(await page.locator(`[data-line="${line}"] .text-line`).textContent()).toBe(`entry ${line} of the log`);
    }
    await page.getByLabel("Find in the output").fill("A Needle");
    await page.keyboard.press("Enter");
    await page.waitForSelector('[data-line="654321"].found.selected');
    expect(page.url()).toMatch(/session=.*line=654321/);
    // Asked again below the last of what was found, it goes to the first.
    await page.getByLabel("Go to line").fill("700000");
    await page.keyboard.press("Enter");
    await page.waitForSelector('[data-line="700000"].selected');
    await page.getByLabel("Find in the output").press("Enter");
    await page.waitForSelector('[data-line="654321"].found.selected');
    // Asked again, it goes to the next one.
    await page.getByLabel("Find in the output").fill("entry 9999\\d\\d? of");
    await page.getByLabel("regex").check();
    for (const line of [99_990, 99_991, 99_992]) {
      await page.getByLabel("Find in the output").press("Enter");
      await page.waitForSelector(`[data-line="${line}"].found.selected`);
    }
    expect(await page.locator("output").textContent()).toBe("110 lines");
    // What was found stands in the strip of the whole too: at a tenth of it, and nowhere near the half.
    const marked = await page.locator(".minimap canvas").evaluate((element) => {
      const canvas = element as HTMLCanvasElement;
      const [red, green, blue] = [230, 159, 0];
      const isFound = (share: number) => {
        const rows =
          canvas.getContext("2d")?.getImageData(canvas.width - 3, canvas.height * share - 4, 1, 8).data ?? [];
        return Array.from({ length: 8 }, (_none, y) => [0, 1, 2].map((channel) => rows[y * 4 + channel])).some(
          ([r, g, b]) => r === red && g === green && b === blue,
        );
      };
      return [0.1, 0.5].map(isFound);
    });
    expect(marked).toEqual([true, false]);
    // A deep link opens at its line.
    const again = await open(`#/outputs/${ids["many"]}?line=654321`);
    await again.page.waitForSelector('[data-line="654321"].selected');
    await Promise.all([page.close(), again.page.close()]);
  });

  it.each([
    ["scattered", 15_000],
    ["scattered widely", 700_000],
  ])("%s: keeps the line that one went to where it is when the reasons of the pieces arrive", async (name, to) => {
    const { page } = await open("#/");
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route("**/view?**", (route) => held.then(() => route.continue()));
    await page.goto(`${server.url}/#/outputs/${ids[name]}`);
    await page.waitForSelector(".text-row .text-line:not(:empty)");
    await page.getByLabel("Go to line").fill(String(to));
    await page.keyboard.press("Enter");
    const line = page.locator(`[data-line="${to}"]`, { hasText: `entry ${to} of the log` });
    await line.waitFor();
    const reasons = page.locator(".pieces .kept", { hasText: "a line that counts" });
    expect(await reasons.count()).toBe(0);
    const before = await line.boundingBox();
    release();
    await reasons.first().waitFor();
    // In steps of the scroll bar, which are larger than a pixel of the second text.
    const moved = Math.abs(((await line.boundingBox())?.y ?? 0) - (before?.y ?? 0));
    expect(moved).toBeLessThan(name === "scattered" ? 1 : 20);
    await page.close();
  });

  it("shows what is hostile as text, unseen characters by their code, and very long lines shortened", async () => {
    const { page, complaints } = await open(`#/outputs/${ids["bad"]}`);
    await page.waitForSelector('[data-line="3"] .text-line:not(:empty)');
    const shown = await page
      .locator('[data-line="1"] .text-line, [data-line="2"] .text-line, [data-line="3"] .text-line')
      .allTextContents();
    expect(shown).toEqual(BAD_TEXT);
    const codes = await page
      .locator('[data-line="2"] .unseen')
      .evaluateAll((all) => all.map((each) => each.getAttribute("data-code")));
    expect(codes).toEqual(["ESC", "ESC", "U+202E", "U+202C", "␇"]);
    expect(await page.locator("h1").textContent()).toBe(BAD_TOOL);
    expect(await page.locator("main img, main script, main iframe").count()).toBe(0);
    // The download is the source to the byte, under a name that does nothing.
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Download" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe(`${ids["bad"]}.txt`);
    expect(await readFile(await download.path(), "utf8")).toBe(
      [...BAD_TEXT, ...numbered(2000), ...BAD_TEXT].join("\n"),
    );
    expect(await page.evaluate(() => (globalThis as { hit?: number }).hit)).toBeUndefined();
    expect(complaints).toEqual([]);
    const long = await open(`#/outputs/${ids["long"]}`);
    await long.page.waitForSelector('[data-line="5"] .text-line:not(:empty)');
    expect(await long.page.locator('[data-line="5"] .text-line').textContent()).toBe("last");
    const text = (await long.page.locator('[data-line="2"] .text-line').textContent()) ?? "";
    expect(text).toMatch(/^x{10000} … 9\.53 MiB more in this line/);
    await Promise.all([page.close(), long.page.close()]);
  });

  it("is used with the keyboard alone", async () => {
    const { page } = await open("#/");
    await page.keyboard.press("?");
    await page.waitForSelector("dialog[open]");
    expect(await page.locator("dialog").textContent()).toContain("go to Outputs");
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog", { state: "detached" });
    await page.keyboard.press("t");
    const theme = () => page.evaluate(() => document.documentElement.dataset["theme"]);
    expect(await theme()).toBe("light");
    await page.reload();
    await expect.poll(theme).toBe("light");
    await page.keyboard.press("3");
    await page.waitForSelector("[aria-label='Saved outputs'] a");
    await page.locator("main").focus();
    expect(await page.locator("main").evaluate((main) => getComputedStyle(main).outlineStyle)).toBe("none");
    for (let presses = 0; presses < 10; presses++) {
      await page.keyboard.press("Tab");
      if (await page.evaluate(() => document.activeElement?.matches("td a"))) break;
    }
    await page.keyboard.press("Enter");
    await page.waitForSelector(".text-row .text-line:not(:empty)");
    await page.keyboard.press("n");
    const first = Number(await page.locator(".text-row.selected").getAttribute("data-line"));
    expect(await page.locator(".text-row.selected").getAttribute("class")).toContain("cut");
    await page.keyboard.press("j");
    await page.waitForSelector(`.text-row.selected[data-line="${first + 1}"]`);
    await page.keyboard.press("k");
    await page.waitForSelector(`.text-row.selected[data-line="${first}"]`);
    await page.keyboard.press("/");
    await page.keyboard.type("nothing like it");
    expect(await page.getByLabel("Find in the output").inputValue()).toBe("nothing like it");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelector("output")?.textContent?.startsWith("0 lines"));
    await page.keyboard.press("Escape");
    await page.keyboard.press("c");
    await page.waitForSelector(".compare");
    await page.close();
  });

  it("tries another policy on a saved output, and says how it differs", async () => {
    const { page } = await open(`#/outputs/${ids["bad"]}`);
    await page.getByRole("button", { name: "Compare" }).click();
    const bottom = await page.locator(".compare form").evaluate((form) => form.getBoundingClientRect().bottom);
    expect(bottom).toBeLessThanOrEqual(800);
    await page.getByLabel("Strategy").selectOption("tail");
    await page.getByLabel("Lines at most").fill("12");
    await page.getByRole("button", { name: "Try it" }).click();
    await page.waitForSelector(".compare section:last-child .text-row .text-line:not(:empty)");
    const [before] = sql<{ tokens: number; lines: number }>(
      "select json_extract(receipt, '$.shown.tokens') tokens, json_extract(receipt, '$.shown.lines') lines from events where kind = 'output-clamped' and artifact = ?",
      ids["bad"] ?? "",
    );
    const status = page.locator(".compare [role=status]");
    const [would = 0, did = 0] = await status
      .locator("data")
      .evaluateAll((all) => all.map((each) => Number((each as HTMLDataElement).value)));
    expect(did).toBe(before?.tokens);
    expect(would).toBeLessThan(did);
    const fewer = new Intl.NumberFormat("en").format(did - would);
    expect(await status.textContent()).toMatch(
      new RegExp(
        `in 12 lines; .* in ${new Intl.NumberFormat("en").format(before?.lines ?? 0)} lines \\(${fewer} fewer\\)`,
      ),
    );
    expect(await page.locator(".compare section:last-child .text-row").count()).toBe(12);
    await page.close();
  });

  it("cuts in the browser what the library cuts, and makes a link that gives the same", async () => {
    const { page, complaints } = await open("#/playground?maxLines=50");
    const text = numbered(3000).with(1500, "error: here it broke").join("\n");
    await page.getByLabel("Output").evaluate((field, pasted) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", pasted);
      field.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
    }, text);
    await page.waitForSelector(".both .text-row .text-line:not(:empty)");
    expect(await figure(page, "It has")).toEqual([text.length, 3000]);
    const options = { strategy: "auto" as const, tool: "run_command", fold: true };
    const library = clampText(text, { maxLines: 50, maxChars: 20_000 }, options);
    const { tokens, lines } = library.receipt.shown;
    expect(lines).toBeLessThanOrEqual(50);
    expect(await figure(page, "The model would read")).toEqual([tokens, lines]);
    const { kept, total, cutBy, strategy } = library.receipt;
    expect(await words(page, "Of the source kept")).toEqual([percent(kept.bytes / total.bytes), `cut by ${cutBy}`]);
    expect((await words(page, "Strategy"))[0]).toBe(strategy);
    const rows = await page.locator(".both section:last-child .text-line").allTextContents();
    expect(rows.length).toBeGreaterThan(10);
    expect(library.text.split("\n").slice(0, rows.length)).toEqual(rows);
    // Beside the original stands what became of it, and why.
    await page.locator(".both .kept", { hasText: "Shown: the start" }).waitFor();
    expect(await page.locator(".both .minimap").count()).toBe(1);
    // The failure is in sight, though lines before it were kept too.
    const sample = await open("#/playground");
    await sample.page.getByRole("button", { name: "Try a sample" }).click();
    await sample.page.locator(".both section:first-child .lit", { hasText: "not ok 1501" }).waitFor();
    // So it is in what the model would read.
    const read = sample.page.locator(".both section:last-child .wrapped");
    await expect.poll(() => read.evaluate((box) => box.scrollTop)).toBeGreaterThan(0);
    const [fault, box] = await Promise.all([read.getByText("not ok 1501").first().boundingBox(), read.boundingBox()]);
    expect(fault?.y).toBeGreaterThan(box?.y ?? Infinity);
    expect((fault?.y ?? 0) + (fault?.height ?? 0)).toBeLessThan((box?.y ?? 0) + (box?.height ?? 0));
    await sample.page.close();
    await page.getByRole("button", { name: "Make a link" }).click();
    const link = (await page.locator(".copy code").textContent()) ?? "";
    const other = await open(link.slice(link.indexOf("#")));
    await other.page.waitForSelector(".both .text-row .text-line:not(:empty)");
    expect(await figure(other.page, "The model would read")).toEqual(await figure(page, "The model would read"));
    expect([...complaints, ...other.complaints]).toEqual([]);
    await Promise.all([page.close(), other.page.close()]);
  });

  it("suggests to lower a limit that nobody missed anything of, with its evidence", async () => {
    const { page } = await open("#/tools");
    await page.waitForSelector("tbody tr");
    const row = page.locator("tr", { has: page.getByRole("link", { name: "grep", exact: true }) });
    expect(await row.textContent()).toContain("▼ lower read back 0 times for 30 cut outputs");
    await page.close();
  });

  it("lists more outputs than one page has, each once", async () => {
    for (let at = 0; at < 120; at++) await admitOne("very many", numbered(3000 + at).join("\n"));
    const { page } = await open("#/outputs?session=very%20many");
    const rows = page.locator("[aria-label='Saved outputs'] tbody tr");
    await rows.first().waitFor();
    expect(await rows.count()).toBe(100);
    // What comes in meanwhile takes none of the others away.
    for (let at = 120; at < 123; at++) await admitOne("very many", numbered(3000 + at).join("\n"));
    await expect.poll(() => rows.count()).toBe(103);
    await page.getByRole("button", { name: "Show more" }).click();
    await expect.poll(() => rows.count()).toBe(123);
    const lines = (await cells(page, "Saved outputs")).map((row) => Number(row[3]));
    expect(lines).toEqual(Array.from({ length: 123 }, (_none, at) => 3122 - at));
    await page.close();
  });

  it("lists more sessions than one page has", async () => {
    const about = { tool: null, call: null, artifact: null, receipt: null, kind: "request-answered" as const };
    await Promise.all(
      Array.from({ length: 210 }, (_none, at) =>
        ledger.record({ ...about, session: `one of many ${at}`, atMs: Date.now(), more: { inputTokens: 1 } }),
      ),
    );
    const { page } = await open("#/sessions");
    const rows = page.locator("[aria-label='Sessions'] tbody tr");
    await rows.first().waitFor();
    expect(await rows.count()).toBe(200);
    await page.getByRole("button", { name: "Show more" }).click();
    const [all] = sql<{ count: number }>("select count(distinct session) count from events");
    await expect.poll(() => rows.count()).toBe(all?.count);
    await page.close();
  });

  it("leads from a session to its own refusals, and from what is gone to what is there", async () => {
    const { page } = await open("#/sessions/refused%20twice");
    await page.getByRole("link", { name: "overflow log" }).click();
    await page.waitForSelector(".incident");
    const [own] = sql<{ count: number }>(
      "select count(*) count from events where session = 'refused twice' and kind in ('overflow-recovered', 'overflow-failed')",
    );
    expect(await page.locator(".incident").count()).toBe(own?.count);
    // Two sessions at once: what happens to one does not end the other's.
    const about = { tool: null, call: null, artifact: null, receipt: null };
    for (const [session, kind] of [
      ["first of two", "overflow-detected"],
      ["second of two", "overflow-detected"],
      ["first of two", "overflow-failed"],
      ["second of two", "overflow-recovered"],
    ] as const)
      await ledger.record({ ...about, session, kind, atMs: Date.now(), more: { evidence: `too long for ${session}` } });
    await page.getByRole("link", { name: "All of them" }).click();
    for (const [session, outcome] of [
      ["first of two", "✕ given up"],
      ["second of two", "✓ recovered"],
    ] as const) {
      const one = page.locator(".incident", { hasText: `too long for ${session}` });
      await one.waitFor();
      expect(await one.locator("h2").textContent()).toContain(outcome);
      expect(await one.locator(".rungs li").count()).toBe(2);
    }
    await expect.poll(() => page.locator(".incident").count()).toBeGreaterThan(own?.count ?? 0);
    for (const [hash, list] of [
      ["#/outputs/aaaaaaaaaaaa", "outputs"],
      ["#/sessions/nobody", "sessions"],
    ] as const) {
      await page.evaluate((to) => {
        location.hash = to;
      }, hash);
      await page
        .locator(".fault")
        .getByRole("link", { name: `all ${list}` })
        .click();
      await page.waitForSelector("tbody tr");
      expect(page.url()).toMatch(new RegExp(`#/${list}$`));
    }
    await page.close();
  });

  it("says what to do when the server is gone, and keeps what is there", async () => {
    const { page } = await open("#/sessions");
    await page.waitForSelector("tbody tr");
    await page.route("**/api/**", (route) => route.abort());
    await page.evaluate(() => {
      location.hash = "#/tools";
    });
    await page.waitForSelector(".fault");
    expect(await page.locator(".fault").textContent()).toContain("spillway serve");
    // It comes back by itself, with what happened meanwhile.
    await admitOne("while it was gone", "one line");
    await page.unroute("**/api/**");
    await page.waitForSelector("tbody tr");
    expect(await page.locator(".fault").count()).toBe(0);
    // What is not known is not drawn as nothing.
    await page.route("**/api/stats?by=hour*", (route) => route.abort());
    await page.evaluate(() => {
      location.hash = "#/overview?range=all";
    });
    await page.waitForSelector(".fault");
    await under(page, "Tools printed");
    expect(await page.locator(".sparkline polyline").count()).toBe(0);
    await page.close();
  });
});

it("takes two cuts inside one line as one gap with the bytes of both", () => {
  const cut = (fromLine: number, toLine: number, bytes: number) => ({ fromLine, toLine, bytes });
  const { receipt } = clampText("one line", { maxLines: 10 });
  const cuts = [cut(2, 2, 100), cut(2, 2, 30), cut(2, 4, 7)] as unknown as typeof receipt.cuts;
  const stretches = stretchesOf({ ...receipt, cuts }, 5, null, null);
  expect(stretches.map(({ isShown, from, to, bytes }) => [isShown, from, to, bytes])).toEqual([
    [true, 1, 1, 0],
    [false, 2, 2, 130],
    [false, 3, 4, 7],
    [true, 5, 5, 0],
  ]);
  // A receipt lists so many cuts only, and the last piece says what it may hide.
  expect(stretchesOf({ ...receipt, cuts, moreCuts: 3 }, 5, null, null).map(({ why }) => why)).toEqual([
    "the start",
    "",
    "",
    "with 3 more gaps that the receipt does not list",
  ]);
});

function numbered(count: number): string[] {
  return Array.from({ length: count }, (_none, at) => `entry ${at + 1} of the log`);
}

const CACHED = "cached";

/** Stands before a provider that has no cache, and tells of one for requests of one model. It breaks once, at the fifth request. */
async function startCache(provider: string): Promise<{ url: string; stop: () => Promise<void> }> {
  let [had, answered] = [0, 0];
  const server = createServer(async (request, response) => {
    const body = (await request.toArray()).join("");
    const headers = { "content-type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": "k" };
    const answer = await fetch(provider + request.url, { method: "POST", headers, body });
    const told = JSON.parse(await answer.text());
    if (answer.ok && JSON.parse(body).model === CACHED) {
      const total = told.usage.input_tokens;
      const read = ++answered === 5 ? 0 : had;
      const written = total - read > 100 ? 100 : 0;
      had = total;
      told.usage.input_tokens = total - read - written;
      Object.assign(told.usage, { cache_read_input_tokens: read, cache_creation_input_tokens: written });
    }
    response.writeHead(answer.status, { "content-type": "application/json" }).end(JSON.stringify(told));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () => new Promise((resolve) => void server.close(() => resolve()).closeAllConnections()),
  };
}

/** An agent that reads files until its window is full, and runs one command that prints much. */
async function playThroughGateway(url: string, session: string, steps: number, model = session): Promise<void> {
  const messages: object[] = [{ role: "user", content: `Why does the build of ${model} fail?` }];
  const tools = ["bash", "read_file"].map((name) => ({ name, input_schema: { type: "object" } }));
  for (let step = 0; step < steps; step++) {
    const response = await fetch(`${url}/v1/messages`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-spillway-session": session },
      body: JSON.stringify({ model, max_tokens: 1000, tools, messages }),
    });
    await response.text();
    const [name, output] = step === 0 ? ["bash", numbered(30_000)] : ["read_file", numbered(450)];
    const id = `${session}_${step}`;
    messages.push(
      { role: "assistant", content: [{ type: "tool_use", id, name, input: { path: `src/${step}.ts` } }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: output.join("\n") }] },
    );
  }
}
