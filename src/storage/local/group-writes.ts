import { setImmediate } from "node:timers/promises";

interface Waiting {
  act: () => unknown;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

/** All of `act` or nothing, when its turn comes; it may run again. */
type Write = <T>(act: () => T) => Promise<T>;

/** A transaction holds at most this many. */
const MAX_GROUP = 256;

/**
 * Writes that are asked for side by side share one transaction. Where one of them cannot be done the group is undone, and
 * each is tried by itself: nobody's fault is another's.
 */
export function groupWrites(write: Write): Write {
  let waiting: Waiting[] = [];

  async function writeGroup(): Promise<void> {
    // Those who ask in the same turn of the event loop come along.
    await setImmediate();
    const group = waiting;
    waiting = [];
    for (let from = 0; from < group.length; from += MAX_GROUP) await writeTogether(group.slice(from, from + MAX_GROUP));
  }

  async function writeTogether(group: readonly Waiting[]): Promise<void> {
    try {
      const results = await write(() => group.map(({ act }) => act()));
      group.forEach(({ resolve }, at) => resolve(results[at]));
    } catch (error) {
      if (group.length === 1) group[0]?.reject(error);
      else for (const one of group) await write(one.act).then(one.resolve, one.reject);
    }
  }

  return <T>(act: () => T) =>
    new Promise<T>((resolve, reject) => {
      waiting.push({ act, resolve: resolve as Waiting["resolve"], reject });
      if (waiting.length === 1) void writeGroup();
    });
}
