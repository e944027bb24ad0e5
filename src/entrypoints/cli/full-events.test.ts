import { describe, expect, it } from "vitest";
import type { RecordedEvent } from "../../contract/event.ts";
import { memoryStore } from "../../storage/stores/memory.ts";
import { fullEventLine } from "./full-events.ts";

async function keep(bytes: Uint8Array) {
  const store = memoryStore();
  const writer = await store.begin({ scope: "local", session: null, tool: "x", call: null });
  await writer.add(bytes);
  const { id } = await writer.end();
  const nothing = { session: null, tool: "x", call: null, receipt: null, more: null };
  const event: RecordedEvent = { id: 1, kind: "artifact-spilled", atMs: 0, artifact: id, ...nothing };
  return { store, event, id };
}

describe("an event with its artifact's text", () => {
  it("has the whole text, and says so where it is not all that was saved", async () => {
    const whole = await keep(Buffer.from("\ufeffä\0\n"));
    expect(await fullEventLine({ store: whole.store, scope: "local" }, whole.event)).toEqual({
      line: `${JSON.stringify({ ...whole.event, text: "\ufeffä\0\n" })}\n`,
      isOmitted: false,
    });
    const latin = await keep(Buffer.from("caf\xe9\n", "latin1"));
    const { line } = await fullEventLine({ store: latin.store, scope: "local" }, latin.event);
    expect(JSON.parse(line)).toMatchObject({ text: "caf\ufffd\n", lossy: true });
  });

  it("leaves out what is over 64 MiB, unread, and names the command that reads it", async () => {
    const { store, event, id } = await keep(Buffer.from("x"));
    const ofSize = (bytes: number) => ({
      read: store.read,
      find: async () => {
        const found = await store.find(id, "local");
        return found && { ...found, bytes };
      },
    });
    const { line, isOmitted } = await fullEventLine({ store: ofSize(300 * 1024 ** 2), scope: "local" }, event);
    expect(isOmitted).toBe(true);
    expect(JSON.parse(line)).toEqual({ ...event, text: null, textOmitted: `300.0 MiB: spillway recall ${id} --raw` });
    expect(await fullEventLine({ store: ofSize(64 * 1024 ** 2), scope: "local" }, event)).toMatchObject({
      isOmitted: false,
    });
    expect(await fullEventLine({ store: ofSize(64 * 1024 ** 2 + 1), scope: "local" }, event)).toMatchObject({
      isOmitted: true,
    });
  });

  it("does the same where the line cannot be made", async () => {
    const { store, event, id } = await keep(Buffer.from("x"));
    let tries = 0;
    const toJSON = () => {
      tries += 1;
      if (tries === 1) throw new RangeError("Invalid string length");
      return "fine";
    };
    const { line, isOmitted } = await fullEventLine({ store, scope: "local" }, { ...event, more: { toJSON } });
    expect(isOmitted).toBe(true);
    expect(JSON.parse(line)).toMatchObject({
      more: "fine",
      text: null,
      textOmitted: `1 B: spillway recall ${id} --raw`,
    });
  });

  it("has null for an artifact that is gone, and nothing else", async () => {
    const { store, event, id } = await keep(Buffer.from("x"));
    await store.remove(id, "local");
    expect(JSON.parse((await fullEventLine({ store, scope: "local" }, event)).line)).toEqual({ ...event, text: null });
  });
});
