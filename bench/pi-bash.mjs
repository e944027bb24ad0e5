// One child process: pi's own bash tool reads a file through `cat`; prints what the tool would give the model.
import { peerFile } from "./peers.mjs";

const { createBashTool } = await import(peerFile("pi", "dist/core/tools/bash.js"));
const file = process.argv[2].replaceAll("'", "'\\''");
const result = await createBashTool(process.cwd()).execute("bench", { command: `cat '${file}'` });
process.stdout.write(result.content[0].text);
