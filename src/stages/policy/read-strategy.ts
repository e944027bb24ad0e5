/** What a strategy's name says. */
interface NamedStrategy {
  strategy?: string;
  headShare?: number;
  summarize?: true;
}

/** Other names of strategies. `head_tail` divides the room evenly, where our `head-tail` favours the end. */
const OTHER_NAMES: Readonly<Record<string, NamedStrategy>> = {
  head_tail: { strategy: "head-tail", headShare: 0.5 },
  head_only: { strategy: "head" },
  tail_only: { strategy: "tail" },
  // What is cut where there is no summary is for weaker rows to say.
  summarize: { summarize: true },
  summarise: { summarize: true },
};

/** A strategy by any of its names. A name that is not ours is left as it is: it may be that of a strategy handed in. */
export function namedStrategy(name: string): NamedStrategy {
  return OTHER_NAMES[name.trim().toLowerCase()] ?? { strategy: name };
}

/** A strategy as a person writes it, in any case and with any of both dashes; undefined if it cannot be one. */
export function readStrategy(written: string): NamedStrategy | undefined {
  const named = namedStrategy(written);
  if (named.strategy !== written) return named;
  const name = written.trim().toLowerCase().replaceAll("_", "-");
  return /^[a-z][a-z0-9-]{0,63}$/.test(name) ? { strategy: name } : undefined;
}
