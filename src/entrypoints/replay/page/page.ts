import { grouped } from "../../../values.ts";
import { ours } from "../policies/spillway.ts";
import type { Replayed, ReplayedConversation } from "../replay.ts";
import { FIGURES, figuresOf, type Totals } from "../totals.ts";

/** Told apart without red against green. */
const COLORS = ["#7a7a7a", "#0072b2", "#e69f00", "#56b4e9", "#cc79a7", "#009e73", "#d55e00", "#9467bd"];
/** Pages with more charts than this are slow on a phone. */
const MAX_CHARTS = 12;

const STYLE = `
:root{color-scheme:light dark;--text:#1b1b1b;--soft:#666;--line:#ddd;--page:#fff}
@media (prefers-color-scheme:dark){:root{--text:#eee;--soft:#aaa;--line:#444;--page:#161616}}
body{margin:0 auto;padding:1rem;max-width:62rem;font:16px/1.45 system-ui,sans-serif;color:var(--text);background:var(--page)}
h1{font-size:1.4rem}h2{font-size:1.15rem;margin-top:2rem}h3{font-size:1rem;overflow-wrap:anywhere}
svg{width:100%;height:auto;display:block}svg text{font:11px system-ui,sans-serif;fill:var(--text)}
.bars{max-width:34rem}.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(22rem,100%),1fr));gap:0 2rem}
.grid{stroke:var(--line)}.window{stroke:var(--text);stroke-dasharray:4 3}
.keys{display:flex;flex-wrap:wrap;gap:.25rem 1rem;padding:0;list-style:none}
.keys span{display:inline-block;width:.8em;height:.8em;margin-right:.35em}
.wide{overflow-x:auto}table{border-collapse:collapse;white-space:nowrap;font-size:.9rem}
th,td{padding:.25rem .6rem;font-variant-numeric:tabular-nums;text-align:right;border-bottom:1px solid var(--line)}
th:first-child,td:first-child{text-align:left;position:sticky;left:0;background:var(--page)}
p,li{color:var(--soft)}b{color:var(--text)}`;

/** What a replay gave as a page of its own: no script, nothing loaded from elsewhere. */
export function writePage(replayed: Replayed): string {
  const { totals, windowTokens, prices, conversations, policies } = replayed;
  const shown = conversations.toSorted((a, b) => weightOf(b) - weightOf(a)).slice(0, MAX_CHARTS);
  const left = conversations.length - shown.length;
  const bars = totals.map(({ policy, cost, misses }, at) => ({
    name: policy,
    color: colorAt(at),
    value: cost,
    label: `$${cost.toFixed(2)}, ${grouped(misses)} missed`,
  }));
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>Spillway replay</title><style>${STYLE}</style></head><body>
<h1>Replay of ${grouped(conversations.length)} ${conversations.length === 1 ? "conversation" : "conversations"}</h1>
<p>Window <b>${grouped(windowTokens)}</b> tokens. Prices <b>${escaped(prices.name)}</b>: $${prices.input} for a million input
tokens, $${prices.cacheRead} read from the prompt cache, $${prices.cacheWrite} written to it. ${escaped(prices.source)}.</p>
<h2>Cost of input, and answers that missed something</h2>
<div class="bars">${drawBars("Cost of input by policy", bars)}</div>
<h2>All figures</h2>
<div class="wide">${tableOf(totals)}</div>
<h2>Tokens sent with each request</h2>
<ul class="keys">${totals.map(({ policy }, at) => `<li><span style="background:${colorAt(at)}"></span>${escaped(policy)}</li>`).join("")}</ul>
<p>Thick: ours. Dashed: the window. Dots: the answer held something that only a cleared or trimmed result could have told.
Where policies send the same, one line covers the others: ours, or the last of them in this list.</p>
<div class="charts">${shown.map((one) => chartOf(one, windowTokens)).join("\n")}</div>
${left > 0 ? `<p>The ${grouped(shown.length)} largest are shown; ${grouped(left)} more are in the sums.</p>` : ""}
<h2>The policies</h2>
<ul>${policies.map(({ name, rule, source }) => `<li><b>${escaped(name)}</b>: ${escaped(rule)} (${escaped(source)})</li>`).join("\n")}</ul>
</body></html>
`;
}

function chartOf({ name, played }: ReplayedConversation, windowTokens: number): string {
  const lines = played.map(({ policy, requests }, at) => ({
    name: policy,
    color: colorAt(at),
    isMain: policy === ours.name,
    values: requests.map(({ tokens }) => tokens),
    marked: requests.flatMap(({ missed }, index) => (missed.length > 0 ? [index] : [])),
  }));
  return `<section><h3>${escaped(name)}</h3>${drawLines(`Tokens sent with each request of ${name}`, lines, windowTokens)}</section>`;
}

function tableOf(totals: readonly Totals[]): string {
  const row = (cells: string[], tag: string) =>
    `<tr>${cells.map((cell) => `<${tag}>${escaped(cell)}</${tag}>`).join("")}</tr>`;
  const body = totals.map((one) => row(figuresOf(one, totals[0] as Totals), "td")).join("");
  return `<table><thead>${row(FIGURES, "th")}</thead><tbody>${body}</tbody></table>`;
}

function weightOf({ played }: ReplayedConversation): number {
  return played[0]?.requests.reduce((sum, { tokens }) => sum + tokens, 0) ?? 0;
}

function colorAt(index: number): string {
  return COLORS[index % COLORS.length] as string;
}

/** A policy's line: one value for each request, and the requests that are marked. */
interface Line {
  name: string;
  color: string;
  values: readonly number[];
  marked: readonly number[];
  /** Drawn wider, and over the others. */
  isMain: boolean;
}

// The picture is as wide as a phone, so that its words can be read there.
const WIDTH = 400;
const HEIGHT = 240;
const LEFT = 38;
const RIGHT = 8;
const TOP = 10;
const BOTTOM = 28;

/** A chart of lines over requests as SVG, with a dashed line at the window. */
function drawLines(title: string, lines: readonly Line[], windowTokens: number): string {
  const requests = Math.max(2, ...lines.map(({ values }) => values.length));
  const top = niceTop(Math.max(1, ...lines.flatMap(({ values }) => values)));
  const x = (at: number) => round(LEFT + (at / (requests - 1)) * (WIDTH - LEFT - RIGHT));
  const y = (value: number) => round(HEIGHT - BOTTOM - (value / top) * (HEIGHT - TOP - BOTTOM));
  const steps = [0, 0.25, 0.5, 0.75, 1].map((share) => share * top);
  const grid = steps.map(
    (value) =>
      `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(value)}" y2="${y(value)}"/>` +
      `<text x="${LEFT - 4}" y="${y(value) + 4}" text-anchor="end">${short(value)}</text>`,
  );
  const window =
    windowTokens > top
      ? ""
      : `<line class="window" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(windowTokens)}" y2="${y(windowTokens)}"/>` +
        `<text x="${LEFT + 4}" y="${y(windowTokens) - 4}">window</text>`;
  const inOrder = lines.toSorted((a, b) => Number(a.isMain) - Number(b.isMain));
  const drawn = inOrder.map(({ name, color, values, marked, isMain }) => {
    const points = values.map((value, at) => `${x(at)},${y(value)}`).join(" ");
    const dots = marked.map((at) => `<circle cx="${x(at)}" cy="${y(values[at] ?? 0)}" r="2.5" fill="${color}"/>`);
    const width = isMain ? 2.5 : 1.25;
    return `<g><title>${escaped(name)}</title><polyline points="${points}" fill="none" stroke="${color}" stroke-width="${width}"/>${dots.join("")}</g>`;
  });
  const ends = `<text x="${LEFT}" y="${HEIGHT - 8}">request 1</text><text x="${WIDTH - RIGHT}" y="${HEIGHT - 8}" text-anchor="end">${requests}</text>`;
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(title)}">${grid.join("")}${window}${drawn.join("")}${ends}</svg>`;
}

/** A policy's bar. */
interface Bar {
  name: string;
  color: string;
  value: number;
  /** What stands beside it. */
  label: string;
}

const BAR_HEIGHT = 22;
const NAMES_WIDTH = 74;
const LABELS_WIDTH = 130;

/** A chart of bars as SVG. */
function drawBars(title: string, bars: readonly Bar[]): string {
  const most = Math.max(Number.MIN_VALUE, ...bars.map(({ value }) => value));
  const height = bars.length * BAR_HEIGHT;
  const rows = bars.map(({ name, color, value, label }, at) => {
    const width = round((value / most) * (WIDTH - NAMES_WIDTH - LABELS_WIDTH));
    const middle = at * BAR_HEIGHT + 15;
    return (
      `<text x="0" y="${middle}">${escaped(name)}</text>` +
      `<rect x="${NAMES_WIDTH}" y="${at * BAR_HEIGHT + 4}" width="${width}" height="14" fill="${color}"/>` +
      `<text x="${NAMES_WIDTH + width + 5}" y="${middle}">${escaped(label)}</text>`
    );
  });
  return `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(title)}">${rows.join("")}</svg>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** The next number that can be read off an axis. */
function niceTop(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 4, 5, 8, 10].find((step) => step * power >= value) ?? 10) * power;
}

/** Text made safe for a page. */
function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

/** A number in few characters: 950, 12.5k, 3.4M. */
export function short(value: number): string {
  const [unit, sign] = value >= 999_950 ? [1e6, "M"] : value >= 1000 ? [1000, "k"] : [1, ""];
  return `${Math.round((value / unit) * 10) / 10}${sign}`;
}
