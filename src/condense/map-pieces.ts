/** Does the same with each piece, some at once, in order. No more than those are held; the first failure ends it. */
export async function mapPieces<From, To>(
  pieces: AsyncIterable<From>,
  atOnce: number,
  act: (piece: From, index: number) => Promise<To>,
): Promise<To[]> {
  const source = pieces[Symbol.asyncIterator]();
  const done: To[] = [];
  let next = Promise.resolve();
  let count = 0;
  let isOver = false;
  /** One at a time: who asks next waits for the one before. */
  const take = (): Promise<{ piece: From; index: number } | null> => {
    const taken = next.then(async () => {
      if (isOver) return null;
      const { value, done: ended } = await source.next();
      if (ended) isOver = true;
      return ended ? null : { piece: value, index: count++ };
    });
    next = taken.then(
      () => {},
      () => {},
    );
    return taken;
  };
  const work = async () => {
    for (let one = await take(); one !== null; one = await take()) done[one.index] = await act(one.piece, one.index);
  };
  try {
    await Promise.all(Array.from({ length: Math.max(1, atOnce) }, work));
    return done;
  } finally {
    isOver = true;
    await source.return?.();
  }
}
