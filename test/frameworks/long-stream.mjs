// Run by other runtimes than Node: a long stream is cut, kept whole and read back.
import { createSpillway } from "../../dist/index.js";

const [dir] = process.argv.slice(2);
const line = "a line of a long log with a few words in it\n";
const chunk = new TextEncoder().encode(line.repeat(1000));
const spillway = await createSpillway({ dir });
const { receipt } = await spillway.admit({
  tool: "bash",
  output: (async function* () {
    for (let count = 0; count < 500; count++) yield chunk;
  })(),
});
const { artifact, saved, savedBytes, total, faults } = receipt;
const page = await spillway.recall(artifact, { lines: [250_000, 250_000] });
process.stdout.write(JSON.stringify({ saved, savedBytes, bytes: total.bytes, faults, text: page.text }));
process.exit(0);
