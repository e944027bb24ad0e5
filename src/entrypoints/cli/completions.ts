import type { CommandRow, FlagRow } from "./command-table.ts";

/** Scripts that tell a shell our commands and flags, one for each shell. */
export const COMPLETIONS: Record<"bash" | "zsh" | "fish", (table: readonly CommandRow[]) => string> = {
  bash,
  zsh,
  fish,
};

/** A word in quotes, for any of the shells. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** What may stand in place of an id. */
const LAST = "last";

/** The words that a command's first argument may be, as far as they are known. */
function firstWords({ words }: CommandRow): readonly string[] {
  const [first] = words;
  if (first === undefined) return [];
  return /\bid/.test(first.name) ? [LAST] : first.choices;
}

function flagNames(flags: readonly FlagRow[]): string {
  return flags.flatMap(({ names }) => names).join(" ");
}

function bash(table: readonly CommandRow[]): string {
  const cases = table.map((command) => {
    const values = command.flags
      .filter(({ takesValue }) => takesValue)
      .map(({ names, choices }) =>
        choices.length > 0
          ? `      ${names.join("|")}) words=${quoted(choices.join(" "))} ;;\n`
          : `      ${names.join("|")}) files=1 ;;\n`,
      );
    return `  ${command.name})
    case "$before" in
${values.join("")}      *)
        if [[ $word == -* ]]; then words=${quoted(flagNames(command.flags))}
        else words=${quoted(firstWords(command).join(" "))}; files=1; fi ;;
    esac ;;
`;
  });
  return `# bash completion for spillway. In ~/.bashrc: source <(spillway completion bash)
_spillway() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} words= files= at
  COMPREPLY=()
  # After -- stands a command with its own words.
  for ((at = 1; at < COMP_CWORD; at++)); do
    if [[ \${COMP_WORDS[at]} == -- ]]; then
      if ((at + 1 == COMP_CWORD)); then COMPREPLY=($(compgen -c -- "$word")); else compopt -o default; fi
      return
    fi
  done
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W ${quoted(`${table.map(({ name }) => name).join(" ")} help --help --version`)} -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
  help) words=${quoted(table.map(({ name }) => name).join(" "))} ;;
${cases.join("")}  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  if [[ -n $files ]]; then compopt -o default; fi
}
complete -F _spillway spillway
`;
}

/** For zsh, in what _arguments and _describe read, a colon ends a part and brackets enclose the description. */
function zshText(text: string): string {
  return text.replaceAll(/[[\]:\\]/g, String.raw`\$&`);
}

function zsh(table: readonly CommandRow[]): string {
  const flagLines = ({ names, takesValue, choices, description }: FlagRow) =>
    names.map((name) => {
      const value = !takesValue ? "" : choices.length > 0 ? `:value:(${choices.join(" ")})` : ":value:_files";
      return `      ${quoted(`${name}[${zshText(description)}]${value}`)}`;
    });
  const cases = table.map((command) => {
    return `    ${command.name})
      flags=(
${command.flags.flatMap(flagLines).join("\n")}
      )
      first=(${firstWords(command).join(" ")}) ;;
`;
  });
  return `#compdef spillway
# zsh completion for spillway. Write it to a folder of $fpath as _spillway, or in ~/.zshrc: source <(spillway completion zsh)
_spillway() {
  local -a commands flags first
  commands=(
${table.map(({ name, description }) => `    ${quoted(`${name}:${zshText(description)}`)}`).join("\n")}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  # After -- stands a command with its own words.
  local at=\${words[(i)--]}
  if (( at < CURRENT )); then
    (( CURRENT -= at )); shift $at words
    _normal
    return
  fi
  case \${words[2]} in
    help) _describe command commands; return ;;
${cases.join("")}  esac
  shift words; (( CURRENT-- ))
  _arguments -s $flags '*: :_spillway_words'
}
_spillway_words() {
  (( $#first )) && compadd -a first
  _files
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _spillway "$@"; else compdef _spillway spillway; fi
`;
}

function fish(table: readonly CommandRow[]): string {
  const lines = table.flatMap((command) => {
    const on = `complete -c spillway -n '__fish_seen_subcommand_from ${command.name}'`;
    const words = firstWords(command);
    return [
      `complete -c spillway -n __fish_use_subcommand -f -a ${command.name} -d ${fishQuoted(command.description)}`,
      ...(words.length > 0 ? [`${on} -a ${fishQuoted(words.join(" "))}`] : []),
      ...command.flags.map(({ names, takesValue, choices, description }) => {
        const spelled = names.map((name) => (name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
        const value = !takesValue ? "" : choices.length > 0 ? ` -x -a ${fishQuoted(choices.join(" "))}` : " -r";
        return `${on} ${spelled.join(" ")}${value} -d ${fishQuoted(description)}`;
      }),
    ];
  });
  return `# fish completion for spillway. In ~/.config/fish/config.fish: spillway completion fish | source
complete -c spillway -n __fish_use_subcommand -f -l version -d 'print the version'
complete -c spillway -n __fish_use_subcommand -f -l help -d 'print the help'
# After -- stands a command with its own words.
complete -c spillway -n 'contains -- -- (commandline -opc)' -x -a '(complete -C (commandline -cp | string replace -r "^.*? -- " ""))'
${lines.join("\n")}
`;
}

function fishQuoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
}

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
