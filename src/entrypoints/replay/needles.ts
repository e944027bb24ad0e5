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
