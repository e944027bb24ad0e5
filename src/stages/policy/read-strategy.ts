/** A strategy as a person writes it (`head_tail`, `head_only`, `summarize`) in our words; undefined if it cannot be one. */
export function readStrategy(written: string): { strategy: string; summarize?: true } | undefined {
  const name = written.trim().toLowerCase().replaceAll("_", "-");
  if (!/^[a-z][a-z0-9-]{0,63}$/.test(name)) return undefined;
  if (name === "summarize" || name === "summarise") return { strategy: "head-tail", summarize: true };
  if (name === "head-only") return { strategy: "head" };
  if (name === "tail-only") return { strategy: "tail" };
  return { strategy: name };
}
