import { Argument, type Command } from "commander";
import { loadConfig } from "../../../index.ts";
import { counted } from "../../../values.ts";
import { EXIT_BAD_INPUT, tell } from "../tell.ts";
import { writeJson, writeOut } from "../write-out.ts";

const WHOSE = { project: "the project's file", user: "your own file", environment: "the environment" };

/** `spillway config check`: says which files count, and all that is wrong in them. */
export function addConfigCommand(program: Command): void {
  program
    .command("config")
    .description("check: say which config files and variables are in force, and what is wrong in them")
    .addArgument(new Argument("<action>", "what to do").choices(["check"]))
    .argument("[file]", "a config file to check instead of those that would be read here")
    .option("--json", "print one JSON object, { sources, problems }")
    .addHelpText(
      "after",
      `
The exit code is 2 if anything is wrong. Other commands go on then: they say what is wrong, and leave it out.

Examples:
  spillway config check
  spillway config check ./spillway.yaml --json`,
    )
    .action(async (_action: "check", file: string | undefined, { json }: { json?: boolean }) => {
      const { sources, warnings: problems } = await loadConfig({ lenient: true, tellsAll: true, file });
      if (json) await writeJson({ sources, problems });
      else {
        const lines = sources.map(({ kind, path }) => (path === null ? WHOSE[kind] : `${path}: ${WHOSE[kind]}`));
        await writeOut(
          `${(lines.length > 0 ? lines : ["no config file and no variable: the defaults hold"]).join("\n")}\n`,
        );
        problems.forEach((problem) => tell(problem));
        tell(problems.length === 0 ? "nothing is wrong" : counted(problems.length, "problem"));
      }
      if (problems.length > 0) process.exitCode = EXIT_BAD_INPUT;
    });
}
