// One child process: cline's own shell executor reads a file through `cat`; prints what it would give the model.
import { peerFile } from "./peers.mjs";

const { createShellExecutor } = await import(peerFile("cline", "dist/index.js"));
const file = process.argv[2].replaceAll("'", "'\\''");
const executor = createShellExecutor({ timeoutMs: 600_000 });
const result = await executor(`cat '${file}'`, process.cwd(), {
  agentId: "bench",
  conversationId: "bench",
  iteration: 1,
});
const text = typeof result === "string" ? result : JSON.stringify(result);
process.stdout.write(text, () => process.exit(0));
