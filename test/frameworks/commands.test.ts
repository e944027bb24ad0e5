import { afterEach, expect, test } from "vitest";
import { type AnyClient, CLI, connect } from "./mcp-clients.ts";

let client: AnyClient | null = null;
afterEach(async () => {
  await client?.close();
  client = null;
});

test.each(["v1", "v2"] as const)(
  "with the %s client: a command, its long output read back, one in the background",
  async (sdk) => {
    client = await connect(sdk, { args: [CLI, "tools", "--allow-commands", new URL(".", import.meta.url).pathname] });
    const call = async (name: string, args: object) => (await client?.call(name, args))?.content[0]?.text ?? "";
    expect(await call("run_command", { command: "echo hello; exit 4" })).toBe("hello\n[exit code 4]");
    const long = await call("run_command", { command: "seq 1 50000" });
    expect(long.split("\n").length).toBeLessThanOrEqual(200);
    const asked = JSON.parse(/recall\((\{.*?\})\)/.exec(long)?.[1]?.replace("[from,to]", "[25000,25000]") ?? "");
    expect(await call("recall", asked)).toContain("25000\n");
    const begun = [await call("run_command", { command: "echo up; sleep 500", background: true })];
    const id = /"id":"([^"]+)"/.exec(begun[0] ?? "")?.[1];
    // On a slow machine the command has not begun at the first look.
    while (!begun.at(-1)?.startsWith("up\n")) begun.push(await call("command_output", { id, wait_seconds: 0 }));
    expect(begun.at(-1)).toMatch(/^up\n\[still running/);
    expect(await call("command_output", { id, stop: true })).toBe("[ended: exit code 143]");
  },
);
