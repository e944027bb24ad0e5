import type { CommandRow } from "./command-table.ts";

/** Text for roff: no character of its own means anything there. */
function plain(text: string): string {
  return text
    .replaceAll("\\", String.raw`\e`)
    .replaceAll("-", String.raw`\-`)
    .replaceAll(/^(?=[.'])/gm, String.raw`\&`);
}

/** The man page. */
export function manPage(
  table: readonly CommandRow[],
  { version, summary }: { version: string; summary: string },
): string {
  const sections = table.map(({ usage, description, words, flags, after }) =>
    [
      `.SS ${plain(usage.split("\n")[0] ?? "")}`,
      `${plain(sentence(description))}`,
      ...words.filter((word) => word.description !== "").map((word) => item(word.name, word.description)),
      ...flags.map((flag) => item(flag.flags, flag.description)),
      ...(after === "" ? [] : [".PP", ".nf", plain(after), ".fi"]),
    ].join("\n"),
  );
  return `.TH SPILLWAY 1 "" "spillway ${plain(version)}" "User Commands"
.SH NAME
spillway \\- ${plain(summary.charAt(0).toLowerCase() + summary.slice(1).replace(/\.$/, ""))}
.SH SYNOPSIS
.B spillway
.I command
[flags] [words]
.SH DESCRIPTION
${plain(summary)}
Each command prints its help with
.BR \\-\\-help .
.SH COMMANDS
${sections.join("\n")}
.SH ENVIRONMENT
${ENVIRONMENT.map(([name, meaning]) => item(name, meaning)).join("\n")}
.SH FILES
${item("spillway.yaml", "limits for each tool: in the project's folder or above it, or in your config folder")}
.SH EXIT STATUS
0 if all went well, 1 if nothing was found or something is damaged, 2 for a mistake in what was asked.
.B spillway run
ends with the command's own code, or 124 to 127 as its help says.
`;
}

const ENVIRONMENT: [string, string][] = [
  ["SPILLWAY_DIR", "the folder of artifacts and events"],
  ["SPILLWAY_SCOPE", "whose artifacts and events (local)"],
  ["SPILLWAY_CONFIG", "the one config file to read"],
  ["SPILLWAY_OFF", "1 lets every output pass as it is"],
  ["NO_COLOR", "if set, no colours are used"],
  ["PAGER", "the program that shows long output on a terminal (less)"],
];

function item(name: string, meaning: string): string {
  return `.TP\n.B ${plain(name)}\n${plain(meaning)}`;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
