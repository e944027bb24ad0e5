import { statSync } from "node:fs";
import { win32 } from "node:path";

/** What `spawn` takes. */
export interface SpawnCall {
  file: string;
  args: string[];
  options: { windowsVerbatimArguments?: boolean };
}

/** What to know of the machine. */
export interface WindowsMachine {
  env: Readonly<Record<string, string | undefined>>;
  isFile(path: string): boolean;
}

/** How to start a command on this machine. */
export function spawnCall(words: readonly string[]): SpawnCall {
  const [file = "", ...args] = words;
  if (process.platform !== "win32") return { file, args, options: {} };
  const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  return windowsCommand(words, { env: process.env, isFile });
}

/**
 * How to start a command on Windows. Programs (.exe) take their words as they are. Scripts (.cmd, .bat: npm, npx and most
 * of what npm installs) are run by cmd.exe, whose special characters are escaped. A name is looked for on the PATH with the
 * endings of PATHEXT, and never in the current folder, where a clone may have put another one.
 */
export function windowsCommand([word = "", ...args]: readonly string[], machine: WindowsMachine): SpawnCall {
  const file = findProgram(word, machine) ?? word;
  if (!/\.(?:cmd|bat)$/i.test(file)) return { file, args, options: {} };
  const line = [escapeForCmd(win32.normalize(file)), ...args.map(quoteForCmd)].join(" ");
  const shell = variable(machine.env, "ComSpec") ?? "cmd.exe";
  // /s: cmd.exe takes the outer quotes off and leaves the others alone.
  return { file: shell, args: ["/d", "/s", "/c", `"${line}"`], options: { windowsVerbatimArguments: true } };
}

function findProgram(word: string, { env, isFile }: WindowsMachine): string | undefined {
  const endings = (variable(env, "PATHEXT") ?? ".COM;.EXE;.BAT;.CMD").split(";").filter((ending) => ending !== "");
  const hasFolder = /[\\/]/.test(word);
  const folders = hasFolder
    ? [""]
    : (variable(env, "PATH") ?? "").split(";").map((each) => each.replace(/^"(.*)"$/, "$1"));
  const isEnded = endings.some((ending) => word.toLowerCase().endsWith(ending.toLowerCase()));
  const names = [...(isEnded ? [word] : []), ...endings.map((ending) => `${word}${ending.toLowerCase()}`)];
  return folders
    .filter((folder) => hasFolder || win32.isAbsolute(folder))
    .flatMap((folder) => names.map((name) => (hasFolder ? name : win32.join(folder, name))))
    .find(isFile);
}

/** The names of variables have no case on Windows. */
function variable(env: WindowsMachine["env"], name: string): string | undefined {
  const key = Object.keys(env).find((each) => each.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : env[key];
}

const escapeForCmd = (text: string) => text.replaceAll(/[()\][%!^"`<>&|;, *?]/g, "^$&");

/**
 * A word in quotes, as programs read them: backslashes before a quote count double. It is escaped twice, since the scripts
 * that npm writes hand their words to a second command line.
 */
function quoteForCmd(word: string): string {
  const quoted = `"${word.replaceAll(/(\\*)"/g, '$1$1\\"').replace(/\\+$/, "$&$&")}"`;
  return escapeForCmd(escapeForCmd(quoted));
}
