import { copyOf, type HeldLine, type LineHolder, lineCost } from "./ranked-lines.ts";

/** A column with more values than these has none that stands out. */
const MOST_VALUES = 32;
const MOST_COLUMNS = 64;
/** Rows held for each value: a rarer one than these is told by its first rows. */
const ROWS_OF_VALUE = 4;
/** Longer values are told apart by their start. */
const LOOK_CHARS = 80;
/** A value is rare if it stands in fewer rows than this part of what each would have if all had as many. */
const RARE = 0.1;

/** More rows than these are no exception. */
const MOST_ROWS = 50;

interface Value {
  count: number;
  rows: HeldLine[];
}

/** Rows with a value that is rare in a column of few values, and rows with fewer cells than the others. */
export class RareRows implements LineHolder {
  readonly #mostBytes: number;
  readonly #cellsOf: (line: HeldLine) => readonly string[] | null;
  /** Null for a column of many values. */
  readonly #columns: (Map<string, Value> | null)[] = [];
  #rows = 0;
  #heldBytes = 0;

  /** `cellsOf` gives null for what is no row. */
  constructor(mostBytes: number, cellsOf: (line: HeldLine) => readonly string[] | null) {
    this.#mostBytes = mostBytes;
    this.#cellsOf = cellsOf;
  }

  add(line: HeldLine): void {
    const cells = this.#cellsOf(line);
    if (cells === null) return;
    this.#rows++;
    let copy: HeldLine | null = null;
    const hold = () => {
      if (copy === null) {
        copy = copyOf(line);
        this.#heldBytes += lineCost(line);
      }
      return copy;
    };
    this.#see(0, String(cells.length), hold);
    const columns = Math.min(cells.length, MOST_COLUMNS);
    for (let column = 0; column < columns; column++) this.#see(column + 1, cells[column] as string, hold);
    if (this.#heldBytes > this.#mostBytes) this.#letGo();
  }

  /** Counts again what is held, and gives up columns, those of most values first, until there is room. */
  #letGo(): void {
    for (;;) {
      const live = new Set<HeldLine>();
      let largest = -1;
      this.#columns.forEach((values, column) => {
        for (const { rows } of values?.values() ?? []) for (const row of rows) live.add(row);
        if (values && values.size > (this.#columns[largest]?.size ?? 0)) largest = column;
      });
      this.#heldBytes = [...live].reduce((sum, row) => sum + lineCost(row), 0);
      if (largest === -1 || this.#heldBytes <= this.#mostBytes / 2) return;
      this.#columns[largest] = null;
    }
  }

  #see(column: number, cell: string, hold: () => HeldLine): void {
    let values = this.#columns[column];
    if (values === null) return;
    if (values === undefined) {
      values = new Map();
      this.#columns[column] = values;
    }
    const text = cell.slice(0, LOOK_CHARS);
    const value = values.get(text);
    if (value === undefined) {
      if (values.size === MOST_VALUES) this.#columns[column] = null;
      else values.set(text, { count: 1, rows: [hold()] });
      return;
    }
    value.count++;
    if (value.rows.length < ROWS_OF_VALUE) value.rows.push(hold());
  }

  lines(): HeldLine[] {
    const rare = new Map<number, { line: HeldLine; count: number }>();
    for (const values of this.#columns) {
      if (values === null || values === undefined || values.size < 2) continue;
      const most = (this.#rows / values.size) * RARE;
      for (const { count, rows } of values.values()) {
        if (count >= most) continue;
        for (const line of rows) {
          const known = rare.get(line.line);
          if (known === undefined || known.count > count) rare.set(line.line, { line, count });
        }
      }
    }
    const rarest = [...rare.values()].sort((a, b) => a.count - b.count || a.line.line - b.line.line);
    return rarest
      .slice(0, MOST_ROWS)
      .map(({ line }) => line)
      .sort((a, b) => a.line - b.line);
  }
}
