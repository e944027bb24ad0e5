/** How long an agent's tool waits for an answer. */
const TIMEOUT_MS = 10_000;

/** The beginning of a plugin: `ask` gives what `spillway hook` answers to an event, and null if anything goes wrong. */
export function askHook(agent: string): string {
  return `// Written by "spillway init ${agent}"; "spillway init ${agent} --remove" takes it out.
import { spawn } from "node:child_process";

function ask(event) {
  return new Promise((resolve) => {
    try {
      const child = spawn("spillway", ["hook", "--agent", "${agent}"], {
        stdio: ["pipe", "pipe", "ignore"],
        shell: process.platform === "win32",
        windowsHide: true,
      });
      const timer = setTimeout(() => child.kill(), ${TIMEOUT_MS});
      timer.unref();
      let text = "";
      child.on("error", () => resolve(null));
      child.stdout.setEncoding("utf8");
      child.stdout.on("data", (chunk) => (text += chunk));
      child.stdin.on("error", () => {});
      child.on("close", () => {
        clearTimeout(timer);
        try {
          resolve(JSON.parse(text));
        } catch {
          resolve(null);
        }
      });
      child.stdin.end(JSON.stringify(event));
    } catch {
      resolve(null);
    }
  });
}
`;
}
