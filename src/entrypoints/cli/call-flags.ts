import type { Command } from "commander";
import type { AskOptions } from "../../index.ts";
import { wholeNumber } from "./whole-number.ts";

/** Flags with which a call asks for more or for less of its output. */
export interface CallFlags {
  keep?: string;
  focus?: string;
  size?: number;
}

/** Adds them to a command. */
export function addCallFlags(command: Command): Command {
  return command
    .option("--keep <name>", "what this call wants kept: any strategy's name")
    .option("--focus <words>", "words, or /a pattern/: what matches is kept before what does not")
    .option("--size <chars>", "show no more than this, and never more than the policy allows", wholeNumber("--size"));
}

/** What the flags ask for. */
export function callOptions({ keep, focus, size }: CallFlags): AskOptions {
  return {
    ...(keep !== undefined && { keep }),
    ...(focus !== undefined && { focus }),
    ...(size !== undefined && { size: { maxChars: size } }),
  };
}
