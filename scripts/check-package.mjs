// Packs the package as it would be published and looks at that file only: what is in it, whether publint and attw find
// fault, and whether it works in an empty folder. Needs a built dist/.
import { execFileSync } from "node:child_process";
import { accessSync, constants, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "esbuild";

// The library, its command and its docs take 1,350 KiB, the dashboard with React, uPlot and the stages 200.
const MAX_TARBALL_BYTES = 1550 * 1024;
const ALLOWED =
  /^(package\.json|README\.md|CHANGELOG\.md|LICENSE|dist\/.+\.(c?js|d\.ts|txt)|dist\/dashboard\/.+\.(html|css)|schema\/.+\.json|docs\/(guide|reference)\/.+\.md|\.claude-plugin\/marketplace\.json|plugins\/.+\.(json|md))$/;

const manifest = JSON.parse(readFileSync("package.json", "utf8"));
const folder = mkdtempSync(join(tmpdir(), "spillway-package-"));
try {
  const tarball = pack();
  run("publint", [tarball, "--strict"]);
  run("attw", [tarball, "--profile", "esm-only", "--no-emoji"]);
  await namesWhatItImports();
  worksWithoutDependencies(tarball);
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
