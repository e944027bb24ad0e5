import { expect, test } from "vitest";
import { createSpillway } from "../../index.ts";
import { memoryStore } from "../../storage/stores/memory.ts";
import { boundMedia } from "./bound-media.ts";

const OF = { tool: "shot", session: "s1", call: "1" };
const block = (type: string, bytes: number) => ({
  type,
  data: Buffer.alloc(bytes, 255).toString("base64"),
  mimeType: `${type}/x`,
});

test("what goes over the budget is saved and named; the rest and the order stay", async () => {
  const spillway = await createSpillway({ store: memoryStore(), ledger: null, env: {} });
  const text = { type: "text", text: "words" };
  const file = { type: "resource", resource: { uri: "file:///a", blob: Buffer.alloc(900).toString("base64") } };
  const link = { type: "resource_link", uri: "file:///b", name: "b" };
  const result = { content: [block("image", 300), text, block("audio", 3000), file, link, block("image", 600)], a: 1 };
  const copy = structuredClone(result);
  const bounded = (await boundMedia(spillway, OF, result, 1000)) as typeof result;
  expect(result).toEqual(copy);
  expect(bounded.a).toBe(1);
  expect(bounded.content.map(({ type }) => type)).toEqual(["image", "text", "text", "text", "resource_link", "image"]);
  const [, , sound, blob] = bounded.content as { text: string }[];
  expect(sound?.text).toMatch(
    /^\[audio\/x of 3000 bytes is left out: a result may have 1000 bytes of media; it is saved as \w{12}\]$/,
  );
  expect(blob?.text).toMatch(/^\[file of 900 bytes is left out/);
  const id = /saved as (\w+)/.exec(sound?.text ?? "")?.[1] ?? "";
  expect(Buffer.from((await spillway.store?.read(id, "local", { from: 0, to: 9999 })) ?? [])).toEqual(
    Buffer.alloc(3000, 255),
  );
});

test("within the budget, without content and without a store it does not fail", async () => {
  const spillway = await createSpillway({ store: null, ledger: null, env: {} });
  const result = { content: [block("image", 999), null, 5, { type: "image" }, { type: "resource", resource: null }] };
  expect(await boundMedia(spillway, OF, result, 999)).toBe(result);
  expect(await boundMedia(spillway, OF, { structuredContent: {} }, 0)).toEqual({ structuredContent: {} });
  const { content } = (await boundMedia(spillway, OF, { content: [block("image", 9)] }, 0)) as typeof result;
  expect(content).toEqual([
    { type: "text", text: "[image/x of 9 bytes is left out: a result may have 0 bytes of media]" },
  ]);
});
