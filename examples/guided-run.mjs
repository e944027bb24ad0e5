// Sends a real large output through and shows what a model would see of it, and the receipt.
import { spawn } from "node:child_process";
import { createSpillway } from "spillway";

const colour = process.stdout.isTTY ? (code, text) => `\u001b[${code}m${text}\u001b[0m` : (_code, text) => text;
const title = (text) => console.log(`\n${colour(1, `== ${text}`)}\n`);

/** A command whose output is far too large for any model: a listing of everything below this folder, then a failure. */
const script = `
  const { readdirSync } = require("node:fs");
  for (const entry of readdirSync(".", { recursive: true })) console.log(entry);
  console.error("Error: 1 of 1 checks failed: the listing is far too long");
  process.exitCode = 1;
`;
const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "pipe"] });
const exit = new Promise((resolve) => child.on("close", resolve));

async function* output() {
  yield* child.stdout;
  yield* child.stderr;
}

const spillway = await createSpillway();
const chunks = [];
for await (const chunk of output()) chunks.push(chunk);
const whole = Buffer.concat(chunks);
const { text, receipt } = await spillway.admit({
  tool: "run_command",
  output: whole,
  exitCode: await exit,
  limits: { maxLines: 20 }, // so that all of it fits on a screen
});

title("1. A tool wrote this much");
console.log(
  `${receipt.total.lines.toLocaleString("en-US")} lines, ${receipt.total.bytes.toLocaleString("en-US")} bytes`,
);

title("2. The model reads this");
console.log(text);

title("3. The receipt says where every byte went");
console.log(JSON.stringify(receipt, null, 2));

title("4. And the whole output is kept");
const kept = await spillway.store.read(receipt.artifact, "local", { from: 0, to: whole.length });
console.log(
  `artifact ${receipt.artifact}: ${kept.length.toLocaleString("en-US")} bytes, equal to what the tool wrote: ${Buffer.from(kept).equals(whole)}`,
);
console.log(`\nNext: npm test 2>&1 | npx spillway clamp --command "npm test"     (README.md has more)`);
