import { readPattern, type State } from "./pattern-states.ts";

/** Finds a pattern anywhere in a line: every state at once, so that no line takes longer than its length asks for. */
export function patternMatcher(pattern: string, ignoreCase: boolean): (line: Uint8Array) => boolean {
  const { states, start } = readPattern(pattern, ignoreCase);
  const active = new Uint32Array(states.length);
  const coming = new Uint32Array(states.length);
  const seen = new Uint32Array(states.length);
  let round = 0;

  return (line) => {
    let count = 0;
    let now = active;
    let then = coming;
    for (let at = 0; at <= line.length; at++) {
      round++;
      // A match may begin at any byte.
      const place = { isStart: at === 0, isEnd: at === line.length };
      const closed = [start, ...now.subarray(0, count)];
      count = 0;
      if (reach(states, closed, place, seen, round)) return true;
      if (at === line.length) return false;
      const byte = line[at] as number;
      round++;
      for (const index of closed) {
        const state = states[index] as State;
        if (state.set === null || state.set[byte] === 0) continue;
        for (const next of state.next) {
          if (seen[next] === round) continue;
          seen[next] = round;
          then[count++] = next;
        }
      }
      [now, then] = [then, now];
    }
    return false;
  };
}

/** Adds to `list` all that is passed through for nothing; true if the pattern's end is among it. */
function reach(
  states: readonly State[],
  list: number[],
  place: { isStart: boolean; isEnd: boolean },
  seen: Uint32Array,
  round: number,
): boolean {
  for (let at = 0; at < list.length; at++) {
    const index = list[at] as number;
    if (index === 0) return true;
    const state = states[index] as State;
    if (state.set !== null) continue;
    if (state.only === "start" ? !place.isStart : state.only === "end" ? !place.isEnd : false) continue;
    for (const next of state.next) {
      if (seen[next] === round) continue;
      seen[next] = round;
      list.push(next);
    }
  }
  return false;
}
