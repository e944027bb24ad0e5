// One child process per contestant: how much memory one clamp of a large text takes on top of the text itself.
// Arguments: stages file, contestant's id, text file, work folder, limits as JSON.
import { readFileSync, writeFileSync } from "node:fs";
import { contestants } from "./contestants.mjs";

const [stagesFile, id, textFile, workDir, limits] = process.argv.slice(2);

function rssMb() {
  return process.memoryUsage.rss() / 2 ** 20;
}

/** Peak since `forgetPeak` on Linux; elsewhere the peak of the process's whole life. */
function peakMb() {
  try {
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync("/proc/self/status", "utf8"))[1]) / 1024;
  } catch {
    return process.resourceUsage().maxRSS / 1024;
  }
}

function forgetPeak() {
  try {
    writeFileSync("/proc/self/clear_refs", "5");
  } catch {
    // Not Linux: reading the text then counts too.
  }
}

const call = await contestants(stagesFile)
  .find((contestant) => contestant.id === id)
  .load(workDir);
// Warm up first, so that what is loaded on the first call is not counted as the clamp's.
await call("line\n".repeat(20_000), JSON.parse(limits));
const text = readFileSync(textFile, "utf8");
globalThis.gc();
forgetPeak();
const beforeMb = rssMb();
const { totalLines } = await call(text, JSON.parse(limits));
const result = { beforeMb, peakMb: peakMb(), totalLines };
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
