import { escaped, short } from "./html.ts";

/** A policy's line: one value for each request, and the requests that are marked. */
export interface Line {
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
export function drawLines(title: string, lines: readonly Line[], windowTokens: number): string {
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
export interface Bar {
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
export function drawBars(title: string, bars: readonly Bar[]): string {
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
