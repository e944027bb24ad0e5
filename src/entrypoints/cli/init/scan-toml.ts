/** A value of a TOML text, and where it stands. */
export interface TomlValue {
  /** The tables and keys that lead to it. */
  path: string[];
  /** The key as it is written, up to the blank before the equals sign. */
  key: string;
  start: number;
  end: number;
  text?: string;
  /** The values of a list. */
  items?: Pick<TomlValue, "start" | "end" | "text">[];
  /** True if it stands in a table between braces. */
  isInline: boolean;
}

/** Finds every value of a TOML text. Throws if the text is not TOML, as far as it takes to find them. */
export function scanToml(text: string): TomlValue[] {
  const found: TomlValue[] = [];
  let at = text.startsWith("\ufeff") ? 1 : 0;
  let table: string[] = [];
  let lists = 0;

  const fault = (): never => {
    const line = text.slice(0, at).split("\n").length;
    throw new Error(`line ${line} is not TOML that can be read: ${JSON.stringify(text.slice(at, at + 40))}`);
  };
  const skip = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const [match = ""] = pattern.exec(text) ?? [];
    at += match.length;
    return match;
  };
  const expect = (mark: string): void => {
    if (!text.startsWith(mark, at)) fault();
    at += mark.length;
  };
  const blanks = () => skip(/[ \t]*/y);
  const space = () => skip(/(?:[ \t\r\n]|#[^\n]*)*/y);

  function string(): string | undefined {
    const multi = /"""([^]*?)"""(?!")|'''([^]*?)'''(?!')/y;
    const single = /"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)'/y;
    for (const pattern of [multi, single]) {
      pattern.lastIndex = at;
      const match = pattern.exec(text);
      if (match === null) continue;
      at += match[0].length;
      const [, basic, literal] = match;
      const body = (basic ?? literal ?? "").replace(pattern === multi ? /^\r?\n/ : /^$/, "");
      return literal === undefined ? unescaped(body) : body;
    }
    return undefined;
  }

  function key(): { path: string[]; raw: string } {
    const start = at;
    const path: string[] = [];
    do {
      blanks();
      const part = /["']/.test(text[at] ?? "") ? string() : skip(/[\w-]+/y);
      if (part === undefined || (part === "" && !/["']/.test(text[at - 1] ?? ""))) fault();
      path.push(part ?? "");
      blanks();
    } while (text[at] === "." && ++at);
    return { path, raw: text.slice(start, at).trim() };
  }

  function value(path: string[], raw: string, isInline: boolean): TomlValue {
    const start = at;
    const about = { path, key: raw, start, isInline };
    const said = string();
    if (said !== undefined) return { ...about, end: at, text: said };
    if (text[at] === "[") {
      const items: TomlValue[] = [];
      at++;
      for (space(); text[at] !== "]"; space()) {
        items.push(value([...path, String(items.length)], "", true));
        space();
        if (text[at] === ",") at++;
        else if (text[at] !== "]") fault();
      }
      at++;
      return { ...about, end: at, items };
    }
    if (text[at] === "{") {
      at++;
      for (space(); text[at] !== "}"; space()) {
        pair(path, true);
        space();
        if (text[at] === ",") at++;
        else if (text[at] !== "}") fault();
      }
      at++;
      return { ...about, end: at };
    }
    if (skip(/[^\s,[\]{}#"'=]+(?: [\d:.Z+-]+)?/y) === "") fault();
    return { ...about, end: at };
  }

  function pair(inside: string[], isInline: boolean): void {
    const { path, raw } = key();
    expect("=");
    blanks();
    found.push(value([...inside, ...path], raw, isInline));
  }

  for (space(); at < text.length; space()) {
    if (text[at] === "[") {
      const isList = text.startsWith("[[", at);
      at += isList ? 2 : 1;
      table = [...key().path, ...(isList ? [`#${lists++}`] : [])];
      expect(isList ? "]]" : "]");
    } else pair(table, false);
    blanks();
    if (at < text.length && !/[\r\n#]/.test(text[at] ?? "")) fault();
  }
  return found;
}

const ESCAPES: Record<string, string> = { b: "\b", t: "\t", n: "\n", f: "\f", r: "\r", e: "\u001b" };

function unescaped(text: string): string {
  return text.replaceAll(
    /\\(?:u([\da-fA-F]{4})|U([\da-fA-F]{8})|x([\da-fA-F]{2})|\s*\n\s*|([^]))/g,
    (_all, ...codes) => {
      const [four, eight, two, one] = codes as (string | undefined)[];
      const code = four ?? eight ?? two;
      return code === undefined ? (ESCAPES[one ?? ""] ?? one ?? "") : String.fromCodePoint(Number.parseInt(code, 16));
    },
  );
}
