import { ConfigFault } from "./config-fault.ts";
import { type ConfigNode, type PathStep, positionOf } from "./config-node.ts";
import type { UserOptions } from "./to-user-options.ts";
import { pathText } from "./validate-config.ts";

/** What is wrong with the redaction rules of a file, each at its place: said here, nobody meets it in an agent's run. */
export async function ruleFaults(root: ConfigNode, { redact }: UserOptions): Promise<ConfigFault[]> {
  const rules = typeof redact === "object" ? redact.rules : [];
  if (rules.length === 0) return [];
  const { compilePrograms, compileRules } = await import("../stages/redact/compile-rules.ts");
  const faults: ConfigFault[] = [];
  const check = (path: PathStep[], compile: () => unknown): void => {
    try {
      compile();
    } catch (error) {
      const why = (error as Error).message.replace(/^redaction(?: rule \d+)?: /, "");
      // A rule without its name or its pattern is none.
      faults.push(new ConfigFault(positionOf(root, path), `${pathText(path)}: ${why}`, path.slice(0, 3)));
    }
  };
  for (const [index, rule] of rules.entries()) {
    const path = ["redact", "rules", index];
    check([...path, "name"], () => compileRules([{ name: rule.name, literal: "a plain text" }]));
    check([...path, "pattern" in rule ? "pattern" : "literal"], () => compilePrograms(rule));
  }
  if (faults.length === 0) check(["redact", "rules"], () => compileRules(rules));
  return faults;
}
