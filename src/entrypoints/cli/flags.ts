import { InvalidArgumentError } from "commander";
import { openRedaction } from "../../admit/redaction.ts";
import type { AskOptions } from "../../admit/wrap-tool.ts";
import type { Limits } from "../../contract/limits.ts";
import type { PolicyInput } from "../../contract/policy.ts";
import { badInput } from "../../errors.ts";
import { type LoadedConfig, loadConfig } from "../../index.ts";
import { definedOnly } from "../../stages/policy/check-row.ts";
import { counted } from "../../values.ts";
import { readBytes } from "./amounts.ts";
import { type Command, SuggestingOption } from "./command.ts";
import { tell } from "./tell.ts";

/** Flags that say which policy applies. */
export interface PolicyFlags {
  maxBytes?: number;
  maxChars?: number;
  maxLines?: number;
  maxTokens?: number;
  strategy?: string;
  headShare?: number;
  fold?: boolean;
  profile?: string;
  config?: string | false;
}

/** The names of all strategies, `auto` first. They are written here so that help does not load them. */
export const STRATEGIES = "auto signal json table diff matches listing sections outline head tail head-tail".split(" ");

const PROFILES = ["balanced", "frugal", "uniform", "off"];

/** Adds them to a command. */
export function addPolicyFlags(command: Command): Command {
  return command
    .option("--max-bytes <size>", "most UTF-8 bytes shown, such as 20000 or 20KB", readBytes)
    .option("--max-chars <n>", "most characters (UTF-16 units) shown", wholeNumber("--max-chars"))
    .option("--max-lines <n>", "most lines shown", wholeNumber("--max-lines"))
    .option("--max-tokens <n>", "most tokens shown, as estimated", wholeNumber("--max-tokens"))
    .addOption(
      new SuggestingOption(
        "--strategy <name>",
        `what to keep: auto (default), ${STRATEGIES.slice(1).join(", ")}`,
        STRATEGIES,
      ),
    )
    .option("--head-share <share>", "the start's share of the room, 0 to 1 (default 0.3)", readShare("--head-share"))
    .option("--fold", "drop terminal codes and repeats if the output is over a limit")
    .option("--no-fold", "keep terminal codes and repeats")
    .addOption(
      new SuggestingOption(
        "--profile <name>",
        "built-in numbers: balanced (default), frugal, uniform or off",
        PROFILES,
      ),
    )
    .option("--config <file>", "read this config file and no other");
}

/**
 * The options of the config files and the environment. Flags win over both, whether they lower a limit or raise it.
 * `redact: false` is the flag --no-redact. What is wrong in a file or a variable is told and left out: it must not cost
 * an output. With `strict` it ends the command.
 */
export async function optionsFromFlags(...given: Parameters<typeof configFromFlags>): Promise<LoadedConfig["options"]> {
  return (await configFromFlags(...given)).options;
}

/** The same with the upstreams. */
export async function configFromFlags(
  flags: PolicyFlags & { redact?: boolean; scope?: string },
  { warn = tell, strict = false }: { warn?: typeof tell; strict?: boolean } = {},
): Promise<Pick<LoadedConfig, "options" | "upstreams">> {
  const { maxBytes, maxChars, maxLines, maxTokens, strategy, headShare, fold, profile } = flags;
  const { options, upstreams, warnings } = await loadConfig({
    lenient: !strict,
    ...(flags.config && { file: flags.config }),
  });
  const { policy } = options;
  warnings.forEach((warning) => warn(warning));
  const limits: Limits = definedOnly({ maxBytes, maxChars, maxLines, maxTokens });
  const none = Object.entries(limits).find(([, most]) => most === 0)?.[0];
  if (none !== undefined)
    throw badInput(`--${none.replace("max", "max-").toLowerCase()} 0 shows nothing: give 1 or more`);
  const force = definedOnly({ strategy, headShare });
  if (profile === "off" && Object.keys({ ...limits, ...force }).length > 0) {
    throw badInput("--profile off shows everything, so it takes no limits and no strategy");
  }
  // If a rule is wrong, the user is told before anything runs.
  if (typeof options.redact === "object") await openRedaction(options.redact);
  return {
    upstreams,
    options: {
      ...options,
      ...(flags.redact === false && { redact: "off" }),
      ...(flags.scope !== undefined && { scope: flags.scope }),
      policy: {
        ...policy,
        ...(profile !== undefined && { profile: profile as PolicyInput["profile"] }),
        force: { ...policy.force, ...force, ...definedOnly({ fold }), limits: { ...policy.force?.limits, ...limits } },
      },
    },
  };
}

/** Reads a flag's share such as 0.3. */
export function readShare(flag: string): (text: string) => number {
  return (text) => {
    const share = Number(text);
    if (text.trim() !== "" && share >= 0 && share <= 1) return share;
    throw new InvalidArgumentError(`${flag} takes a number from 0 to 1, such as 0.3; got "${text}"`);
  };
}

/** Reads a window: a number of tokens, 1 or more. */
export function readWindow(text: string): number {
  const tokens = wholeNumber("--window")(text);
  if (tokens >= 1) return tokens;
  throw new InvalidArgumentError("--window 0 has room for nothing: give 1 or more");
}

/** Reads a flag's whole number of 0 or more; with `signed` also a negative one. */
export function wholeNumber(flag: string, signed = false): (text: string) => number {
  return (text) => {
    if ((signed ? /^-?\d{1,15}$/ : /^\d{1,15}$/).test(text)) return Number(text);
    throw new InvalidArgumentError(
      `${flag} takes a whole number${signed ? "" : " of 0 or more"}, such as ${signed ? "1" : "200"}; got "${text}"`,
    );
  };
}

/** Flags with which a call asks for more or for less of its output. */
export interface CallFlags {
  keep?: string;
  focus?: string;
  size?: number;
}

/** Adds them to a command. */
export function addCallFlags(command: Command): Command {
  return command
    .addOption(new SuggestingOption("--keep <name>", "a strategy for this call, stronger than --strategy", STRATEGIES))
    .option("--focus <words>", "words, or /a pattern/: lines that match are kept before others")
    .option(
      "--size <chars>",
      "show at most this many characters; the policy's limits still hold",
      wholeNumber("--size"),
    );
}

/** What the flags ask for. */
export function callOptions({ keep, focus, size }: CallFlags): AskOptions {
  return definedOnly({ keep, focus, size: size === undefined ? undefined : { maxChars: size } });
}

/** Flags of commands that change a transcript. */
export interface TranscriptFlags {
  wire?: string;
  dryRun?: boolean;
  edits?: boolean;
  rewrite?: boolean;
  json?: boolean;
}

/** Adds them to a command. */
export function addTranscriptFlags(command: Command): Command {
  return command
    .wireFlag()
    .option("--edits", "append context_edit records, even if the session has none yet")
    .option("--rewrite", "write the file anew, even if context_edit records would do")
    .option("--dry-run", "say what would be done, and do nothing")
    .option("--json", "print one JSON object");
}

/** How the file is to be changed; undefined if neither flag is given. */
export function wayOf({ edits, rewrite }: TranscriptFlags): "edits" | "rewrite" | undefined {
  if (edits && rewrite) throw badInput("--edits and --rewrite exclude each other: give one");
  return edits ? "edits" : rewrite ? "rewrite" : undefined;
}

/** Tells people what was done to the file. */
export function toldEnd({ backup, appendedBytes }: { backup: string | null; appendedBytes: number }): string[] {
  const appended = `${counted(appendedBytes, "byte")} that another process appended meanwhile were kept`;
  return [...(appendedBytes > 0 ? [appended] : []), ...(backup === null ? [] : [`the file as it was: ${backup}`])];
}
