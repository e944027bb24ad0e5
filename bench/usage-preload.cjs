// Loaded into a measured process with --require: leaves what the process itself used in the file BENCH_USAGE_FILE.
const { writeFileSync } = require("node:fs");

process.on("exit", () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  writeFileSync(
    process.env.BENCH_USAGE_FILE,
    JSON.stringify({ userSeconds: userCPUTime / 1e6, systemSeconds: systemCPUTime / 1e6, peakRssMb: maxRSS / 1024 }),
  );
});
