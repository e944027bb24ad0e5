/** Told in a program's own log what was cut, and what went wrong that an agent was spared. What it throws is ignored. */
export interface Logger {
  info(message: string, fields: CutFields): unknown;
  warn(message: string, fields: CutFields | FaultFields): unknown;
}

/** What went wrong. */
export interface FaultFields {
  fault: string;
}

/** How much was cut of a tool's output; chars are UTF-16 units. */
export interface CutFields {
  tool: string;
  beforeChars: number;
  afterChars: number;
  /** To one decimal. */
  reducedPercent: number;
}

/** Logs a cut: "info" where a tool's output comes in, "warn" where a message had to be shortened afterwards. */
export function logCut(
  logger: Logger | undefined,
  level: "info" | "warn",
  { tool, beforeChars, afterChars }: Omit<CutFields, "reducedPercent">,
): void {
  if (logger === undefined || afterChars >= beforeChars) return;
  const reducedPercent = Math.round((1 - afterChars / beforeChars) * 1000) / 10;
  const message = `${tool} output cut: ${beforeChars} -> ${afterChars} chars (${reducedPercent.toFixed(1)} % less)`;
  void (async () => logger[level](message, { tool, beforeChars, afterChars, reducedPercent }))().catch(() => {});
}

/** Logs a fault that nobody else is told of. */
export function logFault(logger: Logger | undefined, fault: string): void {
  void (async () => logger?.warn(fault, { fault }))().catch(() => {});
}
