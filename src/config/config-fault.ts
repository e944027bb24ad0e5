/** Where something stands in a file, both from 1. */
export interface Position {
  line: number;
  column: number;
}

/** Something wrong at a place of a config file; becomes a SpillwayError once the file's name is known. */
export class ConfigFault extends Error {
  readonly at: Position;
  /** The keys that lead to what is wrong; empty if it is the file as a whole. */
  readonly path: readonly (string | number)[];

  constructor(at: Position, message: string, path: readonly (string | number)[] = []) {
    super(message);
    this.at = at;
    this.path = path;
  }
}

/** A key or path as it may be printed: a hostile file's control characters must not reach a terminal. */
export function printable(text: string): string {
  const short = text.length > 80 ? `${text.slice(0, 80)}...` : text;
  return /^[\w.*$@/:[\]-]+$/.test(short) ? short : JSON.stringify(short).replace(/[^\x20-\x7e]/g, escapeUnit);
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
