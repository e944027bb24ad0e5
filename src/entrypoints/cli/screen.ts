import { Option } from "commander";
import type { Receipt } from "../../contract/receipt.ts";
import { quotesMarker, tagAtEnd } from "../../stages/mark/texts.ts";
import type { Command } from "./command.ts";
import { isTerminal, writeEnded, writeOut } from "./write-out.ts";

/** Flags that say how things look on a terminal. */
export interface ScreenFlags {
  color?: "auto" | "always" | "never";
  pager?: boolean;
  json?: boolean;
}

/** Adds the flag for colours to a command. */
export function addColorFlag(command: Command): Command {
  return command.addOption(
    new Option("--color <when>", "use colours: auto is only on a terminal").choices(["auto", "always", "never"]),
  );
}

/** Adds both flags to a command whose output may be long. */
export function addScreenFlags(command: Command): Command {
  return addColorFlag(command).option("--no-pager", "print long output at once, without a pager");
}

/** Writes text in one style. */
export type Paint = (text: string) => string;

/** The styles that there are. */
export interface Paints {
  dim: Paint;
  bold: Paint;
  red: Paint;
  green: Paint;
}

const asIs: Paint = (text) => text;
const PLAIN: Paints = { dim: asIs, bold: asIs, red: asIs, green: asIs };
const COLORED: Paints = { dim: coded(2), bold: coded(1), red: coded("1;31"), green: coded(32) };

function coded(code: number | string): Paint {
  return (text) => (text === "" ? "" : `\x1b[${code}m${text}\x1b[0m`);
}

/** The styles to use: none if the output is not for a terminal, if NO_COLOR is set, or for a terminal without colours. */
export function paintsFor({ color = "auto", json }: ScreenFlags): Paints {
  const isWanted =
    color === "auto" ? !process.env["NO_COLOR"] && process.env["TERM"] !== "dumb" && isTerminal(1) : color === "always";
  return isWanted && !json ? COLORED : PLAIN;
}

/** The last line of ours, which names the tag, is shorter. */
const LAST_CHARS = 1000;

/** Dims the lines of a text that are ours. If the output has lines like ours, only ours have the tag that the last lines name. */
export function dimMarkers(text: string, { dim }: Paints): string {
  if (dim === asIs) return text;
  const tag = tagAtEnd(text) || (/ carry( #[0-9a-z]{5});/.exec(text.slice(-LAST_CHARS))?.[1] ?? "");
  const isOurs = (line: string) =>
    line.startsWith("[") && line.endsWith("]") && line.includes(tag) && quotesMarker(line);
  return text
    .split("\n")
    .map((line) => (isOurs(line) ? dim(line) : line))
    .join("\n");
}

/** Writes what a model would see. An output that passes whole stays as it is, with a line break at its end or without. */
export function writeShown(text: string, { shown, total }: Receipt, flags: ScreenFlags): Promise<void> {
  const painted = dimMarkers(harmless(text), paintsFor(flags));
  return shown.bytes === total.bytes ? writeOut(painted) : writeEnded(painted);
}

/**
 * An output as it may be written for people. On a terminal, control characters that could do more than break lines and set
 * colours, such as those that set the clipboard, are shown and not carried out.
 */
export function harmless(text: string): string {
  if (!isTerminal(1)) return text;
  return text.replace(CONTROLS, (found, kept: string | undefined) => {
    if (kept !== undefined) return kept;
    const code = found.charCodeAt(0);
    return code < 0x80 ? `^${String.fromCharCode(code ^ 0x40)}` : `\\x${code.toString(16)}`;
  });
}

/** Colours, line breaks and tabs, which are kept, and every other control character. */
const ESCAPE = "\x1b";
const CONTROLS = new RegExp(`(${ESCAPE}\\[[\\d;:]*m|\\r?\\n|\\t)|\\p{Cc}`, "gu");

/** What a command needs to know of where people read. */
export interface Screen {
  paints: Paints;
  /** How many characters a line has; null if the output is not for a terminal. */
  width: number | null;
}

/** Calls a function that writes for people. On a terminal, output that is longer than the screen goes through a pager. */
export async function onScreen<T>(flags: ScreenFlags, write: (screen: Screen) => Promise<T>): Promise<T> {
  const screen: Screen = { paints: paintsFor(flags), width: null };
  if (flags.json || !isTerminal(1)) return write(screen);
  const { columns, rows } = process.stdout;
  screen.width = columns;
  if (flags.pager === false) return write(screen);
  const { openPager } = await import("./pager.ts");
  const pager = openPager(rows);
  try {
    return await write(screen);
  } finally {
    await pager.end();
  }
}

/** So much room beside the first column is enough for a text of its own. */
const LEAST_ROOM = 20;

/**
 * Breaks lines that are too wide for the screen between words. Commander does so only for what it writes itself, and only
 * where its second column has much room.
 */
export function wrapped(text: string, width: number): string {
  return text
    .split("\n")
    .map((line) => {
      const beside = /^ +\S.*? {2,}(?=\S)/.exec(line)?.[0].length ?? 0;
      const own = /^ */.exec(line)?.[0] ?? "";
      const indent = beside > 0 && width - beside >= LEAST_ROOM ? " ".repeat(beside) : own;
      const rows = [""];
      for (const word of line.length <= width ? [line] : line.split(/(?<=\S) /)) {
        const row = rows.at(-1) ?? "";
        if (row === "") rows[rows.length - 1] = word;
        else if (row.length + 1 + word.length <= width) rows[rows.length - 1] = `${row} ${word}`;
        else rows.push(indent.slice(0, Math.max(0, width - word.length)) + word);
      }
      return rows.join("\n");
    })
    .join("\n");
}
