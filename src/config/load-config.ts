import { realpathSync, statSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { basename, dirname, isAbsolute, join, parse, resolve, sep } from "node:path";
import type { ModelEndpoint } from "../contract/model-client.ts";
import type { ForcedRow, PolicyInput } from "../contract/policy.ts";
import { messageOf, nearestName, SpillwayError } from "../errors.ts";
import { definedOnly, mergeInputs } from "../stages/policy/check-row.ts";
import {
  type Environment,
  KEY_VARIABLE,
  policyFromEnvironment,
  summarizerFromEnvironment,
} from "../stages/policy/policy-from-environment.ts";
import { tried } from "../values.ts";
import { ConfigFault, printable, removeEntry } from "./config-node.ts";
import type { FoundEntry } from "./project-trust.ts";
import type { UserOptions } from "./to-user-options.ts";

/** Where to look. Everything defaults to this process. */
export interface LoadConfigOptions {
  /** Where the search for a project's file begins. */
  cwd?: string;
  /** The one file to read, trusted as the user's own word; no other is searched for. Wins over SPILLWAY_CONFIG. */
  file?: string | undefined;
  /** Only the user's own file, and no project's. */
  ownOnly?: boolean;
  /**
   * Take what is wrong in the user's own file or in the environment out, with a warning, instead of throwing. A file that
   * cannot be read at all is ignored.
   */
  lenient?: boolean;
  /** Tell everything that is wrong in a file, not only the first three things. */
  tellsAll?: boolean;
  env?: Environment;
  home?: string;
  platform?: string;
}

/** Something a policy came from. */
export interface ConfigSource {
  kind: "project" | "user" | "environment";
  /** The file; null for the environment. */
  path: string | null;
  /** What it and all weaker sources say together. */
  policy: PolicyInput;
}

/** What the files and variables of a person say together. */
export interface LoadedConfig {
  policy: PolicyInput;
  /** All that `createSpillway` takes of it: the policy, and where the user's own file says things are kept. */
  options: UserOptions & { policy: PolicyInput };
  /** Where `spillway serve` sends requests on to, as far as the user's own file says it. */
  upstreams: ConfigUpstreams;
  /** Weakest first. */
  sources: ConfigSource[];
  /** Files that are ignored as a whole. */
  ignored: Omit<ConfigSource, "policy">[];
  /** What was ignored and why, each with its place. */
  warnings: string[];
  /** What is no mistake but may surprise; with `tellsAll` also the limits of a project's file that have no effect. */
  notes: string[];
}

/** Addresses of APIs, and those that a request may name itself. */
export interface ConfigUpstreams {
  anthropic?: string;
  openai?: string;
  gemini?: string;
  allowed?: string[];
}

const MAX_USER_BYTES = 1024 * 1024;
// Parsing costs seconds a megabyte, and a project's file may be hostile.
const MAX_PROJECT_BYTES = 64 * 1024;
/** In an error, which is told once. */
const MAX_TOLD = 10;
/** Every command says before its output what is wrong with a file. */
const MAX_WARNED = 3;

/**
 * Reads the config: a project's file, then the user's own, then the environment, each winning over the one before.
 * Throws a SpillwayError "bad-config" that says where and what, if the user's own file cannot be read or is wrong and
 * `lenient` is not set; a project's is ignored then, with a warning.
 */
export async function loadConfig(options: LoadConfigOptions = {}): Promise<LoadedConfig> {
  const { cwd = process.cwd(), env = process.env, platform = process.platform } = options;
  const { lenient = false, tellsAll = false } = options;
  const own = options.home ?? ownHome();
  // Most containers set HOME to the root folder where they know no other.
  const home = own ?? parse(cwd).root;
  const nothing = {
    policy: {},
    userOptions: {},
    summarization: {},
    upstreams: {},
    sources: [],
    ignored: [],
    warnings: [],
    notes: [],
    asked: [],
  };
  const loaded: Loaded = { ...nothing, home, lenient, tellsAll };
  if (own === null && !env.SPILLWAY_DIR) loaded.warnings.push(NO_HOME);
  const file = options.file ?? (env.SPILLWAY_CONFIG || undefined);
  if (file !== undefined) {
    // A file that the caller names has to be there.
    loaded.isNamed = options.file !== undefined;
    await addFile(loaded, "user", { path: resolve(cwd, file), passedOver: [] });
  } else {
    const refuse: Refuse = (path, why) => loaded.warnings.push(`${printable(path)} is not read: ${why}`);
    const project = options.ownOnly ? undefined : findProjectConfig(cwd, home, refuse);
    const user = findUserConfig(env, home, platform, refuse);
    if (project && project.path !== user?.path) await addFile(loaded, "project", project);
    if (user) await addFile(loaded, "user", user);
  }
  loaded.warnings.push(...mistypedVariables(env));
  const ignore = (error: unknown) => loaded.warnings.push(`${messageOf(error)}; it is ignored`);
  const environment = policyFromEnvironment(env, lenient ? ignore : undefined);
  if (lenient && environment.force?.strategy !== undefined) await checkStrategy(environment.force, ignore);
  if (Object.keys(environment).length > 0 || PLACE_VARIABLES.some((name) => env[name])) {
    loaded.policy = mergeInputs(loaded.policy, environment);
    loaded.sources.push({ kind: "environment", path: null, policy: loaded.policy });
  }
  const { policy, userOptions, upstreams, sources, ignored, warnings, notes, asked } = loaded;
  if (asked.length > 0) {
    const { limitsWithoutEffect } = await import("./limits-without-effect.ts");
    notes.push(...limitsWithoutEffect(asked, sources));
  }
  try {
    const summarizer = toSummarizer(loaded.summarization, env);
    if (summarizer !== undefined) userOptions.summarizer = summarizer;
    else if (policy.summarization?.enabled) warnings.push(NO_SUMMARIZER);
  } catch (error) {
    if (!lenient) throw error;
    ignore(error);
  }
  // The variable, which whoever opens the folder reads, wins over a file.
  if (env.SPILLWAY_DIR) delete userOptions.dir;
  if (env.SPILLWAY_LEDGER) delete userOptions.ledger;
  if (env.SPILLWAY_STORE) delete userOptions.store;
  if (env.SPILLWAY_SCOPE) userOptions.scope = env.SPILLWAY_SCOPE;
  return { policy, options: { policy, ...userOptions }, upstreams, sources, ignored, warnings, notes };
}

/** Variables that say where and whose, beside those of the policy. */
const PLACE_VARIABLES = ["SPILLWAY_DIR", "SPILLWAY_LEDGER", "SPILLWAY_STORE", "SPILLWAY_SCOPE"];

/** Takes a strategy that there is not out of what the environment says. */
async function checkStrategy(force: ForcedRow, ignore: (error: unknown) => void): Promise<void> {
  const { strategies } = await import("../stages/clamp/strategies/index.ts");
  const names = strategies.map(({ name }) => name);
  if (names.includes(force.strategy ?? "")) return;
  ignore(`SPILLWAY_STRATEGY must be one of ${names.join(", ")}; got ${JSON.stringify(force.strategy)}`);
  delete force.strategy;
}

/** What was read so far. */
interface Loaded extends Omit<LoadedConfig, "options"> {
  userOptions: UserOptions;
  summarization: SummarizerConfig;
  home: string;
  lenient: boolean;
  tellsAll: boolean;
  isNamed?: boolean;
  /** The limits that a project's file asks for. */
  asked: FoundEntry[];
}

const NO_HOME =
  "this user has no home folder: outputs are kept among the temporary files. Set HOME, or SPILLWAY_DIR to a folder that stays";
const NO_SUMMARIZER =
  "summarization is enabled, but no model is named: set summarization.endpoint and summarization.model; outputs are cut";

async function addFile(loaded: Loaded, kind: "project" | "user", { path, passedOver }: Found): Promise<void> {
  const told = (name: string, { at, message }: ConfigFault) => `${printable(name)}:${at.line}:${at.column}: ${message}`;
  const few = (lines: string[]) => (loaded.tellsAll ? lines : atMost(lines, MAX_WARNED, ": spillway config check"));
  try {
    const { policy, userOptions, summarization, upstreams, ignored, dropped, asked } = await readPolicy(
      path,
      kind,
      loaded,
    );
    loaded.policy = mergeInputs(loaded.policy, kind === "project" ? { project: policy } : policy);
    loaded.userOptions = { ...loaded.userOptions, ...userOptions };
    loaded.summarization = { ...loaded.summarization, ...summarization };
    loaded.upstreams = { ...loaded.upstreams, ...upstreams };
    if (dropped !== null) loaded.notes.push(told(path, dropped));
    if (loaded.tellsAll) loaded.asked.push(...asked);
    loaded.warnings.push(...few(ignored.map((fault, index) => told(index === 0 ? path : basename(path), fault))));
  } catch (error) {
    const faults: ConfigFault[] | null =
      error instanceof AggregateError ? error.errors : error instanceof ConfigFault ? [error] : null;
    // Nobody should lose an output because of a file, least of all one that came with a clone.
    if (kind === "project" || (loaded.lenient && !(loaded.isNamed && faults === null))) {
      const [first, ...others] = few((faults ?? []).map((fault) => told(basename(path), fault)));
      loaded.ignored.push({ kind, path });
      const why =
        first === undefined ? `${messageOf(error)}; it is ignored` : `${printable(path)} is ignored: ${first}`;
      loaded.warnings.push(why, ...others);
      return;
    }
    if (faults === null) throw error;
    throw new SpillwayError(
      "bad-config",
      atMost(
        faults.map((fault) => told(path, fault)),
        MAX_TOLD,
      ).join("\n"),
    );
  }
  loaded.warnings.push(...passedOver.map((other) => `${printable(other)} is not read: ${printable(path)} is`));
  loaded.sources.push({ kind, path, policy: loaded.policy });
}

/** What one file says. */
interface Read {
  policy: PolicyInput;
  userOptions: UserOptions;
  summarization: SummarizerConfig | undefined;
  upstreams: ConfigUpstreams | undefined;
  ignored: ConfigFault[];
  /** Names the sections of another program's config. */
  dropped: ConfigFault | null;
  asked: FoundEntry[];
}

async function readPolicy(path: string, kind: "project" | "user", { home, lenient }: Loaded): Promise<Read> {
  const isProject = kind === "project";
  // Side by side: the validator takes longer to load than a file to read.
  const [{ root, dropped }, { validateConfig }, { toPolicy }, { ruleFaults, toUserOptions }, trust, { strategies }] =
    await Promise.all([
      import("./read-config.ts").then(({ readConfig }) =>
        readConfig(path, isProject ? MAX_PROJECT_BYTES : MAX_USER_BYTES),
      ),
      import("./validate-config.ts"),
      import("./to-policy.ts"),
      import("./to-user-options.ts"),
      import("./project-trust.ts"),
      isProject || lenient ? import("../stages/clamp/strategies/index.ts") : { strategies: [] },
    ]);
  const wrong: ConfigFault[] = [];
  const ignored = isProject ? trust.refuseUntrusted(root, strategies) : [];
  for (;;) {
    const { config, faults, unknown } = validateConfig(root, isProject ? trust.isRefused : undefined);
    // A project's file may be written for a newer version than the one that reads it.
    if (isProject || lenient) ignored.push(...unknown);
    else faults.push(...unknown);
    // A program may have strategies of its own; a command has not.
    if (lenient && !isProject) faults.push(...trust.unknownStrategies(root, strategies));
    // A project's has none of it: that was refused above.
    const userOptions = faults.length > 0 ? {} : toUserOptions(config, dirname(path), home);
    faults.push(...(await ruleFaults(root, userOptions)));
    if (faults.length === 0) faults.push(...(await trust.patternFaults(root)));
    if (faults.length === 0 && wrong.length > 0) throw new AggregateError(inOrder([...wrong, ...ignored]));
    if (faults.length === 0) {
      const { summarization, upstreams } = config as { summarization?: SummarizerConfig; upstreams?: ConfigUpstreams };
      const asked = isProject ? trust.findLimits(root) : [];
      return {
        policy: toPolicy(config),
        userOptions,
        summarization,
        upstreams,
        ignored: inOrder(ignored),
        dropped,
        asked,
      };
    }
    const [first] = faults;
    // Taking one thing out can mend others, or show new ones. One wrong value is enough to ignore a project's file whole.
    if (first === undefined || !(isProject || lenient) || !removeEntry(root, first.path)) {
      throw new AggregateError(inOrder([...wrong, ...faults]));
    }
    if (isProject) wrong.push(first);
    else ignored.push(new ConfigFault(first.at, `${first.message}; it is ignored`));
  }
}

function inOrder(faults: ConfigFault[]): ConfigFault[] {
  return faults.toSorted((a, b) => a.at.line - b.at.line || a.at.column - b.at.column);
}

function atMost(lines: string[], most: number, more = ""): string[] {
  if (lines.length <= most) return lines;
  return [...lines.slice(0, most), `... and ${lines.length - most} more${more}`];
}

/**
 * Not what HOME says if that is no absolute path: a project's file would be taken for the user's own. Null for a user who
 * has neither HOME nor a name, as some containers have them.
 */
function ownHome(): string | null {
  return tried(() => (isAbsolute(homedir()) ? homedir() : userInfo().homedir));
}

const PREFIX = "SPILLWAY_";
/** Every variable of ours, without that. */
const KNOWN = new Set(
  (
    "CONFIG DIR HEAD_SHARE LEDGER SCOPE MAX_BYTES MAX_CHARS MAX_LINES MAX_TOKENS OFF PROFILE STORE STRATEGY " +
    "SUMMARY_ENDPOINT SUMMARY_KEY SUMMARY_MODEL SUMMARY_SPEAKS TOKEN"
  ).split(" "),
);

/** What to say of variables that nobody reads and that look much like one of ours. Others may be somebody else's. */
export function mistypedVariables(env: Environment): string[] {
  return Object.keys(env).flatMap((variable) => {
    const name = variable.slice(PREFIX.length);
    if (!variable.startsWith(PREFIX) || KNOWN.has(name)) return [];
    const near = nearestName(name, KNOWN);
    return near === undefined ? [] : [`${printable(variable)} is ignored; did you mean ${PREFIX}${near}?`];
  });
}

/** What configs say of the model that summarises, the strongest last. */
interface SummarizerConfig extends Partial<Omit<ModelEndpoint, "key">> {
  enabled?: boolean;
  /** The environment variable that has the key: keys do not stand in config files. */
  keyVariable?: string;
}

/** The summarising model: the environment's word, else the user's config, if that is on and complete. */
function toSummarizer(config: SummarizerConfig, env: Environment): ModelEndpoint | undefined {
  const { enabled, endpoint, model, speaks = "openai", keyVariable = KEY_VARIABLE } = config;
  const { timeoutMs, maxConcurrent, maxAnswerTokens, maxCallsPerHour, maxCharsPerHour } = config;
  const { inputPrice, outputPrice } = config;
  const caps = definedOnly({
    timeoutMs,
    maxConcurrent,
    maxAnswerTokens,
    maxCallsPerHour,
    maxCharsPerHour,
    inputPrice,
    outputPrice,
  });
  const named = summarizerFromEnvironment(env);
  if (named !== null) return { ...named, ...caps };
  if (!enabled || endpoint === undefined || model === undefined) return undefined;
  const key = env[keyVariable]?.trim();
  return { endpoint, model, speaks, ...(key ? { key } : {}), ...caps };
}

/** The names a config file may have, the first found being read. */
const CONFIG_NAMES = ["yaml", "yml", "json", "json5", "jsonc"].map((ending) => `spillway.${ending}`);

/** A config file, and those beside it that are not read because of it. */
interface Found {
  path: string;
  passedOver: string[];
}

/** Told of what has a config file's name and is not read, and why. */
type Refuse = (path: string, why: string) => void;

function findUserConfig(env: Environment, home: string, platform: string, refuse: Refuse): Found | undefined {
  for (const folder of userFolders(env, home, platform)) {
    const found = findIn(folder, (path) => isFile(path, refuse));
    if (found) return found;
  }
  return undefined;
}

/** A project's config file: the first from `cwd` upwards, home or the root being the last folder looked into. */
function findProjectConfig(cwd: string, home: string, refuse: Refuse): Found | undefined {
  const last = resolve(home);
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const found = findIn(folder, (path) => isFile(path, refuse) && staysInside(path, refuse));
    if (found) return found;
    if (folder === last || folder === dirname(folder)) return undefined;
  }
}

/** Where a user's own config is looked for. */
function userFolders(env: Environment, home: string, platform: string): string[] {
  const folders: string[] = [];
  const xdg = env.XDG_CONFIG_HOME;
  // A relative path there is to be ignored, says the XDG specification.
  if (xdg && isAbsolute(xdg)) folders.push(xdg);
  else if (platform === "win32") folders.push(env.APPDATA || join(home, "AppData", "Roaming"));
  else folders.push(join(home, ".config"));
  if (platform === "darwin") folders.push(join(home, "Library", "Application Support"));
  return folders.map((folder) => join(folder, "spillway"));
}

function findIn(folder: string, isFine: (path: string) => boolean): Found | undefined {
  const [path, ...passedOver] = CONFIG_NAMES.map((name) => join(folder, name)).filter(isFine);
  return path === undefined ? undefined : { path, passedOver };
}

// Only regular files: a pipe or a device under that name would hang the search.
function isFile(path: string, refuse: Refuse): boolean {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found !== undefined && !found.isFile()) refuse(path, "it is not a file");
    return found?.isFile() ?? false;
  } catch (error) {
    // Links in a circle, or a folder that lets nobody look into it: then nobody knows whether there is anything.
    if ((error as NodeJS.ErrnoException).code === "ELOOP") refuse(path, "it is a link that leads nowhere");
    return false;
  }
}

// Git keeps links: one that leaves its folder would have us read a file that the project's author cannot.
function staysInside(path: string, refuse: Refuse): boolean {
  const folder = realpathSync(dirname(path));
  const isInside = realpathSync(path).startsWith(folder.endsWith(sep) ? folder : folder + sep);
  if (!isInside) refuse(path, "it is a link to a file outside of its folder");
  return isInside;
}
