import { homedir, userInfo } from "node:os";
import { dirname, isAbsolute, resolve } from "node:path";
import type { PolicyInput } from "../contract/policy.ts";
import { messageOf, SpillwayError } from "../errors.ts";
import { mergeInputs } from "../stages/policy/merge-rows.ts";
import { type Environment, policyFromEnvironment } from "../stages/policy/policy-from-environment.ts";
import { ConfigFault, printable } from "./config-fault.ts";
import { type Found, findProjectConfig, findUserConfig, type Refuse } from "./find-config.ts";
import { mistypedVariables } from "./mistyped-variables.ts";
import { type SummarizerConfig, toSummarizer } from "./to-summarizer.ts";
import type { UserOptions } from "./to-user-options.ts";

/** Where to look. Everything defaults to this process. */
export interface LoadConfigOptions {
  /** Where the search for a project's file begins. */
  cwd?: string;
  /** The one file to read, trusted as the user's own word; no other is searched for. Wins over SPILLWAY_CONFIG. */
  file?: string | undefined;
  /** Only the user's own file, and no project's. */
  ownOnly?: boolean;
  env?: Environment;
  home?: string;
  platform?: string;
}

/** Something a policy came from. */
export interface ConfigSource {
  kind: "project" | "user" | "environment";
  /** The file; null for the environment. */
  path: string | null;
}

/** What the files and variables of a person say together. */
export interface LoadedConfig {
  policy: PolicyInput;
  /** All that `createSpillway` takes of it: the policy, and where the user's own file says things are kept. */
  options: UserOptions & { policy: PolicyInput };
  /** Weakest first. */
  sources: ConfigSource[];
  /** What was ignored and why, each with its place. */
  warnings: string[];
}

const MAX_USER_BYTES = 1024 * 1024;
// Parsing costs seconds a megabyte, and a project's file may be hostile.
const MAX_PROJECT_BYTES = 64 * 1024;
const MAX_TOLD = 10;

/**
 * Reads the config: a project's file, then the user's own, then the environment, each winning over the one before.
 * Throws a SpillwayError "bad-config" that says where and what, if the user's own file cannot be read or is wrong; a
 * project's is ignored then, with a warning.
 */
export async function loadConfig(options: LoadConfigOptions = {}): Promise<LoadedConfig> {
  const { cwd = process.cwd(), env = process.env, home = ownHome(), platform = process.platform } = options;
  const loaded: Loaded = { policy: {}, userOptions: {}, summarization: {}, home, sources: [], warnings: [] };
  const file = options.file ?? (env.SPILLWAY_CONFIG || undefined);
  if (file !== undefined) {
    await addFile(loaded, "user", { path: resolve(cwd, file), passedOver: [] });
  } else {
    const refuse: Refuse = (path, why) => loaded.warnings.push(`${printable(path)} is not read: ${why}`);
    const project = options.ownOnly ? undefined : findProjectConfig(cwd, home, refuse);
    const user = findUserConfig(env, home, platform, refuse);
    if (project && project.path !== user?.path) await addFile(loaded, "project", project);
    if (user) await addFile(loaded, "user", user);
  }
  loaded.warnings.push(...mistypedVariables(env));
  const environment = policyFromEnvironment(env);
  if (Object.keys(environment).length > 0) {
    loaded.policy = mergeInputs(loaded.policy, environment);
    loaded.sources.push({ kind: "environment", path: null });
  }
  const { policy, userOptions, sources, warnings } = loaded;
  const summarizer = toSummarizer(loaded.summarization, env);
  if (summarizer !== undefined) userOptions.summarizer = summarizer;
  // The variable, which whoever opens the folder reads, wins over a file.
  if (env.SPILLWAY_DIR) delete userOptions.dir;
  return { policy, options: { policy, ...userOptions }, sources, warnings };
}

/** What was read so far. */
interface Loaded extends Omit<LoadedConfig, "options"> {
  userOptions: UserOptions;
  summarization: SummarizerConfig;
  home: string;
}

async function addFile(loaded: Loaded, kind: "project" | "user", { path, passedOver }: Found): Promise<void> {
  const told = (fault: ConfigFault) => `${printable(path)}:${fault.at.line}:${fault.at.column}: ${fault.message}`;
  try {
    const { policy, userOptions, summarization, ignored } = await readPolicy(path, kind, loaded.home);
    loaded.policy = mergeInputs(loaded.policy, kind === "project" ? { project: policy } : policy);
    loaded.userOptions = { ...loaded.userOptions, ...userOptions };
    loaded.summarization = { ...loaded.summarization, ...summarization };
    loaded.warnings.push(...atMost(ignored.map(told)));
  } catch (error) {
    const faults =
      error instanceof AggregateError ? error.errors.map(told) : error instanceof ConfigFault ? [told(error)] : null;
    // Nobody should lose an output because of a file that came with a clone.
    if (kind === "project") {
      loaded.warnings.push(
        `${printable(path)} is ignored: ${(faults ? atMost(faults) : [messageOf(error)]).join("; ")}`,
      );
      return;
    }
    throw faults === null ? error : new SpillwayError("bad-config", atMost(faults).join("\n"));
  }
  loaded.warnings.push(...passedOver.map((other) => `${printable(other)} is not read: ${printable(path)} is`));
  loaded.sources.push({ kind, path });
}

async function readPolicy(
  path: string,
  kind: "project" | "user",
  home: string,
): Promise<{
  policy: PolicyInput;
  userOptions: UserOptions;
  summarization: SummarizerConfig | undefined;
  ignored: ConfigFault[];
}> {
  const isProject = kind === "project";
  // Side by side: the validator takes longer to load than a file to read.
  const [root, { validateConfig }, { toPolicy }, { toUserOptions }, { ruleFaults }, trust, { strategies }] =
    await Promise.all([
      import("./read-config.ts").then(({ readConfig }) =>
        readConfig(path, isProject ? MAX_PROJECT_BYTES : MAX_USER_BYTES),
      ),
      import("./validate-config.ts"),
      import("./to-policy.ts"),
      import("./to-user-options.ts"),
      import("./rule-faults.ts"),
      import("./project-trust.ts"),
      isProject ? import("../stages/clamp/strategies/index.ts") : { strategies: [] },
    ]);
  const ignored = isProject ? trust.refuseUntrusted(root, strategies) : trust.unusedKeys(root);
  const { config, faults, unknown } = validateConfig(root);
  // A project's file may be written for a newer version than the one that reads it.
  const wrong = isProject ? faults : [...unknown, ...faults];
  if (wrong.length > 0) throw new AggregateError(inOrder(wrong));
  const policy = toPolicy(config);
  // A project's has none of it: that was refused above.
  const userOptions = toUserOptions(config, dirname(path), home);
  const wrongRules = await ruleFaults(root, userOptions);
  if (wrongRules.length > 0) throw new AggregateError(wrongRules);
  const { summarization } = config as { summarization?: SummarizerConfig };
  return { policy, userOptions, summarization, ignored: inOrder(isProject ? [...ignored, ...unknown] : ignored) };
}

function inOrder(faults: ConfigFault[]): ConfigFault[] {
  return faults.toSorted((a, b) => a.at.line - b.at.line || a.at.column - b.at.column);
}

function atMost(lines: string[]): string[] {
  if (lines.length <= MAX_TOLD) return lines;
  return [...lines.slice(0, MAX_TOLD), `... and ${lines.length - MAX_TOLD} more`];
}

/** Not what HOME says if that is no absolute path: a project's file would be taken for the user's own. */
function ownHome(): string {
  return isAbsolute(homedir()) ? homedir() : userInfo().homedir;
}
