/** Its words are not in the source of this file as one text, so that only the output has them. */
export const ERROR_LINE = ["ERROR: the linker found no symbol", "frobnicate"].join(" ");

/** 6,000 lines, about 339 KB, with one error at line 4,000. */
export function buildOutput() {
  const line = (_, i) =>
    i === 3999 ? ERROR_LINE : `[${i + 1}/6000] compiled module ${i + 1} in ${(i * 7919) % 1000} ms, all is well`;
  return `${Array.from({ length: 6000 }, line).join("\n")}\n`;
}

// Run as a command it prints the output and ends with the code that it is told.
if (process.argv[1] === import.meta.filename) {
  process.stdout.write(buildOutput());
  // opencode reads no more once a command has ended, so this one takes a while to end.
  setTimeout(() => {}, 500);
  process.exitCode = Number(process.argv[2] ?? 0);
}
