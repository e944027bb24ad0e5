import { spawn, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import { isRecord, parsedJson } from "../../../values.ts";
import type { Afterwards } from "../agent.ts";

/** Codex answers within a second or two. */
const TIMEOUT_MS = 20_000;
const CODEX = "codex";
const REVIEW =
  "Codex runs these hooks only once you have trusted them: start it and say yes, or use its command /hooks";

/** What Codex has to have in its config.toml to run our hooks without a question. Only Codex itself knows the hashes. */
export async function trustHooks(hookFile: string, configFile: string, isRemoved: boolean): Promise<Afterwards> {
  const path = configFile;
  if (isRemoved) return { file: { path, change: (text) => withoutTrust(text, hookFile) } };
  const hooks = await listHooks().catch(() => null);
  const ours = hooks?.filter(({ key, command }) => key.startsWith(`${hookFile}:`) && /\bspillway hook\b/.test(command));
  if (ours === undefined || ours.length === 0) return { note: REVIEW };
  const untrusted = ours.filter(({ isTrusted }) => !isTrusted);
  if (untrusted.length === 0) return {};
  const change = (text: string) =>
    untrusted.reduce(
      (before, { key, hash }) =>
        `${withoutTrust(before, key)}\n[hooks.state.${JSON.stringify(key)}]\ntrusted_hash = ${JSON.stringify(hash)}\n`,
      text,
    );
  return { file: { path, change } };
}

/** The text without the tables that say that hooks of a file, or one of them, are trusted. */
function withoutTrust(text: string, key: string): string {
  const quoted = JSON.stringify(key)
    .slice(0, -1)
    .replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const table = new RegExp(
    `\\n?^\\[hooks\\.state\\.${quoted}(:[^"\\n]*)?"\\]\\r?\\n(?:(?:trusted_hash|enabled) = .*\\r?\\n?)*`,
    "gm",
  );
  return text.replaceAll(table, "");
}

interface ListedHook {
  key: string;
  command: string;
  hash: string;
  isTrusted: boolean;
}

/** Asks Codex which hooks it finds. Rejects if Codex cannot be run or does not say. */
function listHooks(): Promise<ListedHook[]> {
  return new Promise((resolve, reject) => {
    const child = spawn(CODEX, ["app-server"], { stdio: ["pipe", "pipe", "ignore"] });
    // The option `timeout` of spawn would keep us waiting even if there is no such command.
    setTimeout(() => child.kill(), TIMEOUT_MS).unref();
    child.once("error", reject);
    child.once("close", () => reject(new Error("Codex ended without an answer")));
    child.stdin.on("error", () => {});
    createInterface({ input: child.stdout }).on("line", (line) => {
      const hooks = readAnswer(line);
      if (hooks === null) return;
      resolve(hooks);
      child.stdin.end();
    });
    const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    send({ id: 1, method: "initialize", params: { clientInfo: { name: "spillway", version: "1" } } });
    send({ method: "initialized" });
    send({ id: 2, method: "hooks/list", params: { cwds: [process.cwd()] } });
  });
}

function readAnswer(line: string): ListedHook[] | null {
  const message = parsedJson(line);
  if (!isRecord(message) || message.id !== 2) return null;
  const { data } = isRecord(message.result) ? message.result : { data: [] };
  const folders = Array.isArray(data) ? data : [];
  return folders
    .flatMap((folder) => (isRecord(folder) && Array.isArray(folder.hooks) ? folder.hooks : []))
    .flatMap((hook): ListedHook[] => {
      if (!isRecord(hook)) return [];
      const { key, command, currentHash: hash, trustStatus } = hook;
      if (typeof key !== "string" || typeof command !== "string" || typeof hash !== "string") return [];
      return [{ key, command, hash, isTrusted: trustStatus === "trusted" }];
    });
}

/** Says so if the login shell, in which Codex runs commands, does not find us. */
export function findInLoginShell(): string | undefined {
  const shell = process.env.SHELL || "bash";
  const { status } = spawnSync(shell, ["-lc", "command -v spillway"], { stdio: "ignore", timeout: TIMEOUT_MS });
  if (status === 0) return undefined;
  return `"spillway" is not on the PATH of your login shell, in which Codex runs commands: they cannot be wrapped there, and the model cannot call "spillway recall". Put its folder into PATH in the file that the shell reads at login, such as ~/.profile`;
}
