/** A line's cells, and whether it ends within a quoted one. */
export interface Cells {
  cells: string[];
  isOpen: boolean;
}

/** Splits a line of a table; `isOpen` says that the line begins within a quoted cell. */
export type SplitCells = (line: string, isOpen: boolean) => Cells;

const MARKS = ["\t", "|", ";", ","];

/** How a table's lines are split, by its header and a row: at a separator, under the names, or at white space. */
export function cellSplitter(header: string, row: string): SplitCells {
  const mark = MARKS.find((one) => {
    const names = splitAt(header, one, false).cells.length;
    const first = splitAt(row, one, false);
    return names > 1 && (first.isOpen || first.cells.length === names);
  });
  if (mark !== undefined) return (line, isOpen) => splitAt(line, mark, isOpen);
  const starts = columnStarts(header);
  const isUnder = starts.length > 1 && starts.every((at) => row.length <= at || row[at - 1] === " ");
  if (isUnder) {
    const edges = [0, ...starts];
    return (line) => ({ cells: edges.map((at, index) => line.slice(at, edges[index + 1]).trim()), isOpen: false });
  }
  const names = words(header).length;
  return (line) => ({ cells: words(line).slice(0, names), isOpen: false });
}

/** Where names begin that two or more spaces stand before. */
export function columnStarts(header: string): number[] {
  return [...header.matchAll(/(?<=\s{2})\S/g)].map(({ index }) => index);
}

/** A quote counts where a cell begins with it, so that one in the middle of a text does not. */
export function splitAt(line: string, mark: string, isOpen: boolean): Cells {
  const cells: string[] = [];
  let isQuoted = isOpen;
  let beganQuoted = isOpen;
  let from = 0;
  for (let at = 0; at < line.length; at++) {
    const char = line[at];
    if (char === '"') {
      // Two quotes within a quoted cell close it and open it again.
      beganQuoted ||= line.slice(from, at).trim() === "";
      isQuoted = beganQuoted && !isQuoted;
    } else if (char === mark && !isQuoted) {
      cells.push(line.slice(from, at).trim());
      from = at + 1;
      beganQuoted = false;
    }
  }
  cells.push(line.slice(from).trim());
  return { cells, isOpen: isQuoted };
}

function words(line: string): string[] {
  return line.split(/\s+/).filter((word) => word !== "");
}
