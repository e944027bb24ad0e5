import { describe, expect, it } from "vitest";
import type { SpillwayEvent } from "../contract/event.ts";
import { createSpillway, type SpillwayOptions } from "../index.ts";
import { memoryStore } from "../storage/stores/memory.ts";

const KEY = `AKIA${"B2".repeat(8)}`;
const LONG = "a line of output\n".repeat(5000);

async function open(options: SpillwayOptions = {}) {
  const store = memoryStore();
  const events: SpillwayEvent[] = [];
  const spillway = await createSpillway({ store, env: {}, onEvent: (event) => events.push(event), ...options });
  return { store, spillway, events };
}

describe("an artifact remembers what made it", () => {
  it("has the command without its secrets, the folder and the exit code, and so has the event", async () => {
    const { spillway, events } = await open();
    const made = { command: `deploy --key ${KEY} --all`, folder: "/srv/app" };
    const { receipt } = await spillway.admit({ ...made, output: LONG, exitCode: Promise.resolve(3) });
    const artifact = await spillway.artifact(receipt.artifact ?? "");
    expect(artifact).toMatchObject({ folder: "/srv/app", exitCode: 3 });
    expect(artifact.command).toMatch(/^deploy --key .*redacted.* --all$/);
    expect(events[0]?.more).toMatchObject({ command: artifact.command, folder: "/srv/app" });
    expect(JSON.stringify(events)).not.toContain(KEY);
  });

  it("keeps the start of a long command, and no half of a secret at its end", async () => {
    const { spillway } = await open();
    const command = `${"x ".repeat(495)}${KEY} tail`;
    const { receipt } = await spillway.admit({ command, output: LONG });
    const kept = (await spillway.artifact(receipt.artifact ?? "")).command ?? "";
    expect(kept.length).toBe(1000);
    expect(kept).not.toContain("AKIA");
  });

  it("has the arguments of a wrapped tool as JSON, wherever the framework puts them", async () => {
    const { spillway, store } = await open();
    const tool = spillway.wrapTool({ name: "read", execute: async (..._args: unknown[]) => LONG });
    for (const given of [
      ["c1", { path: "/etc/hosts" }],
      [{ path: "/etc/hosts" }, { abortSignal: null }],
    ]) {
      await tool.execute(...given);
      const [artifact] = await store.list({ scope: "local" });
      expect(artifact).toMatchObject({ command: '{"path":"/etc/hosts"}', folder: null, exitCode: null });
    }
    const circle: { self?: unknown } = {};
    circle.self = circle;
    // The same bytes would keep the arguments that they were saved with.
    const other = spillway.wrapTool({ name: "read", execute: async (..._args: unknown[]) => `other ${LONG}` });
    await other.execute(circle);
    expect((await store.list({ scope: "local" }))[0]?.command).toBeNull();
  });
});

describe("a whole artifact by one call", () => {
  it("gives every byte at once, as text and as a stream", async () => {
    const { spillway } = await open({ redact: "off" });
    const output = Buffer.alloc(3_000_001, "0123456789\n");
    const { receipt } = await spillway.admit({ tool: "bash", output });
    const artifact = await spillway.artifact(receipt.artifact ?? "");
    expect(artifact).toMatchObject({ id: receipt.artifact, bytes: output.length, tool: "bash" });
    expect(Buffer.compare(await artifact.read(), output)).toBe(0);
    expect(await artifact.text()).toBe(output.toString());
    const pieces: Uint8Array[] = [];
    for await (const piece of artifact.stream()) pieces.push(new Uint8Array(piece));
    expect(pieces.length).toBeGreaterThan(1);
    expect(Buffer.compare(Buffer.concat(pieces), output)).toBe(0);
  });

  it("fails for an id that nobody saved, and for what is no id", async () => {
    const { spillway } = await open();
    await expect(spillway.artifact("aaaaaaaaaaaa")).rejects.toMatchObject({ code: "unknown-artifact" });
    await expect(spillway.artifact("../secret")).rejects.toMatchObject({ code: "bad-input" });
  });
});

describe("keep: all", () => {
  it.each([
    ["a text", "short\n"],
    ["bytes", Buffer.from("short\n")],
    ["a result", { content: [{ type: "text", text: "short\n" }] }],
  ])("saves %s that is shown whole, and shows it as it came", async (_, output) => {
    const { spillway } = await open({ keep: "all" });
    const { text, receipt } = await spillway.admit({ tool: "bash", output });
    expect(text).toBe("short\n");
    expect(receipt).toMatchObject({ saved: "yes", savedBytes: 6, omitted: { bytes: 0 } });
    expect(await (await spillway.artifact(receipt.artifact ?? "")).text()).toBe("short\n");
  });

  it("saves where nothing is clamped, but no empty output, no update and no text of ours twice", async () => {
    const { spillway, store } = await open({ keep: "all" });
    expect((await spillway.admit({ output: "", exitCode: 0 })).receipt).toMatchObject({ artifact: null, saved: null });
    expect((await spillway.admit({ output: "part", isUpdate: true })).receipt.artifact).toBeNull();
    const cut = await spillway.admit({ output: LONG });
    expect((await spillway.admit({ output: cut.text })).receipt).toMatchObject({ artifact: null, saved: null });
    expect(await store.list({ scope: "local" })).toHaveLength(1);
    expect((await spillway.admit({ output: LONG.slice(17), off: true })).receipt.saved).toBe("yes");
  });

  it("is off by default, and any other word is refused", async () => {
    const { spillway } = await open();
    expect((await spillway.admit({ output: "short\n" })).receipt).toMatchObject({ artifact: null, saved: null });
    await expect(open({ keep: "everything" as "all" })).rejects.toThrow(
      /keep must be "cut" or "all"; got "everything"/,
    );
  });
});
