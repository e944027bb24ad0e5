import type { Rendered } from "./render.ts";
import type { Turn } from "./turns.ts";

/** A result or the long strings of a call, by its message and its place in `partsOf` it. */
export interface Place {
  message: number;
  part: number;
}

/** What pruning may take of a message: its results, and the long strings of its calls. */
export function partsOf(rendered: Rendered | undefined): string[] {
  return rendered === undefined ? [] : [...rendered.results, ...rendered.calls];
}

/** Something that an answer says and that only results and long strings of calls of its request say too. */
export interface Needle {
  text: string;
  sources: Place[];
}

interface Source extends Place {
  text: string;
}

/** For each turn: what its answer took from results, and from which. The same under every policy, so found once. */
export function findNeedles(rendered: readonly Rendered[], turns: readonly Turn[]): Needle[][] {
  const known = new Known();
  let read = 0;
  return turns.map(({ end, answerEnd }) => {
    for (; read < end; read++) known.add(rendered[read] as Rendered, read);
    const said = rendered
      .slice(end, answerEnd)
      .flatMap(({ outside, calls }) => [...outside.map(saidIn), ...calls])
      .join("\n");
    return known.needlesIn(said);
  });
}

class Known {
  readonly #outside: string[] = [];
  readonly #sources: Source[] = [];
  readonly #namesOutside = new Set<string>();
  readonly #named = new Map<string, Place[]>();

  add(rendered: Rendered, message: number): void {
    const said = rendered.outside.map(saidIn).join("\n");
    this.#outside.push(said);
    for (const name of identifiersIn(said)) this.#namesOutside.add(name);
    for (const [part, text] of partsOf(rendered).entries()) {
      const place = { message, part };
      this.#sources.push({ ...place, text });
      for (const name of identifiersIn(text)) {
        const places = this.#named.get(name);
        if (places === undefined) this.#named.set(name, [place]);
        else places.push(place);
      }
    }
  }

  needlesIn(said: string): Needle[] {
    const needles: Needle[] = [];
    for (const text of identifiersIn(said)) {
      const sources = this.#named.get(text);
      if (sources !== undefined && !this.#namesOutside.has(text)) needles.push({ text, sources: [...sources] });
    }
    for (const text of linesIn(said)) {
      const sources = this.#sources.filter((source) => source.text.includes(text));
      if (sources.length > 0 && !this.#outside.some((outside) => outside.includes(text)))
        needles.push({ text, sources });
    }
    return needles;
  }
}

/** A shorter line is said too often to prove where it comes from. */
const MIN_LINE_CHARS = 16;
const MIN_NAME_CHARS = 8;
const NAME = /[A-Za-z_][A-Za-z0-9_]*/g;

/** The lines of a text that can be looked for: 16 characters or more without the space around them, with a letter in them. */
export function linesIn(text: string): Set<string> {
  const lines = text.split(/[\r\n]+/).map((line) => line.trim());
  return new Set(lines.filter((line) => line.length >= MIN_LINE_CHARS && /\p{L}/u.test(line)));
}

/**
 * The identifiers in a text: names of 8 characters or more that no prose has, since they join words by an underscore or an
 * inner capital, or letters and digits.
 */
export function identifiersIn(text: string): Set<string> {
  return new Set(text.match(NAME)?.filter((name) => name.length >= MIN_NAME_CHARS && isJoined(name)));
}

function isJoined(name: string): boolean {
  return /[A-Za-z0-9]_+[A-Za-z0-9]/.test(name) || /[a-z][A-Z]/.test(name) || (/[A-Za-z]/.test(name) && /\d/.test(name));
}

/** What a text says once the JSON that it may be is read. */
export function saidIn(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    const said: string[] = [];
    strings(JSON.parse(text), said);
    return said.join("\n");
  } catch {
    return text;
  }
}

function strings(value: unknown, into: string[]): void {
  if (typeof value === "string") into.push(value);
  else if (typeof value === "object" && value !== null) for (const each of Object.values(value)) strings(each, into);
}
