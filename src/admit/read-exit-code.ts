/** A command's exit code as somebody says it, a numeral included; null for what is none. */
export function readExitCode(value: unknown): number | null {
  const code = typeof value === "string" && /^-?\d+$/.test(value.trim()) ? Number(value) : value;
  return Number.isSafeInteger(code) ? (code as number) : null;
}
