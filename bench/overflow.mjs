// Holds the verdict on refusals beside pi-ai's list, on the bodies of test/overflow that have an address.
// npm run build && node bench/overflow.mjs [--docs]

import { execFileSync } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { classify } from "../dist/overflow.js";

const PI = "@earendil-works/pi-ai@1.5.2";
const PAGE = new URL("../docs/reference/overflow-errors.md", import.meta.url);
const BODIES = new URL("../test/overflow/", import.meta.url);
const TOO_LARGE = new Set(["context-overflow", "payload-too-large", "request-ceiling"]);

/** One file of the package is all that is needed, and it imports nothing, so the package is not installed. */
async function loadPi() {
  const folder = await mkdtemp(join(tmpdir(), "spillway-pi-"));
  try {
    const packed = execFileSync("npm", ["pack", PI, "--silent"], { cwd: folder, encoding: "utf8" }).trim();
    execFileSync("tar", ["xzf", packed.split("\n").at(-1), "package/dist/utils/overflow.js"], { cwd: folder });
    await writeFile(join(folder, "package.json"), '{"type":"module"}');
    return await import(pathToFileURL(join(folder, "package/dist/utils/overflow.js")));
  } finally {
    await rm(folder, { recursive: true });
  }
}

const { isContextOverflow } = await loadPi();
const rows = [];
for (const file of (await readdir(BODIES)).filter((name) => name.endsWith(".json"))) {
  const fixtures = JSON.parse(await readFile(new URL(file, BODIES), "utf8"));
  rows.push(...fixtures.map((fixture) => ({ ...fixture, file })));
}

// Answers and events are left out: pi's list is for errors. Its clients hand it less than the whole body, so this favours it.
const counted = rows.filter(({ source, body, thrown, expect }) => {
  const isError = body !== undefined || thrown !== undefined;
  return isError && source.startsWith("https://") && expect.kind !== "compaction-failure";
});
const ours = ({ status, body, thrown, context }) => TOO_LARGE.has(classify(thrown ?? { status, body }, context).kind);
const theirs = ({ status, body, thrown, context }) => {
  const text = thrown?.message ?? `${status} ${typeof body === "string" ? body : JSON.stringify(body)}`;
  return isContextOverflow({ stopReason: "error", errorMessage: text, provider: context?.provider, usage: {} });
};

const refusals = counted.filter(({ expect }) => TOO_LARGE.has(expect.kind));
const others = counted.filter(({ expect }) => !TOO_LARGE.has(expect.kind));
const line = (name, judge) => {
  const hits = refusals.filter(judge).length;
  return `| ${name} | ${hits} of ${refusals.length} | ${refusals.length - hits} | ${others.filter(judge).length} of ${others.length} |`;
};
const table = [
  "| | hits | misses | false alarms |",
  "| --- | --- | --- | --- |",
  line("`classify`", ours),
  line(`\`isContextOverflow\` of ${PI}`, theirs),
].join("\n");
process.stdout.write(`${table}\n`);
if (process.argv.includes("--docs")) {
  const page = await readFile(PAGE, "utf8");
  const between = /(<!-- beside:start[^]*?-->\n)[^]*?(<!-- beside:end -->)/;
  await writeFile(
    PAGE,
    page.replace(between, (_all, start, end) => `${start}\n${table}\n\n${end}`),
  );
}
