// An agent that cannot be changed: it only gets another address. The gateway cuts its tool's output on the way to the
// provider (a fake one here), and its API says what happened.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import { startFakeProvider } from "spillway/testing";

const provider = await startFakeProvider({ speaks: "anthropic", script: () => "Test 1501 fails." });
const dir = await mkdtemp(join(tmpdir(), "spillway-gateway-"));
const command = createRequire(import.meta.url)
  .resolve("spillway/package.json")
  .replace("package.json", "dist/cli.cjs");
const words = ["serve", "--port", "0", "--dir", dir, "--anthropic", provider.url];
const gateway = spawn(process.execPath, [command, ...words], { stdio: ["ignore", "pipe", "ignore"] });
try {
  const [said] = await once(gateway.stdout, "data");
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(String(said))[0];

  const client = new Anthropic({ apiKey: "none", baseURL: url }); // the one line
  const tests = Array.from({ length: 3000 }, (_, at) => (at === 1500 ? "not ok 1501 - sorts" : `ok ${at + 1}`));
  const { content } = await client.messages.create({
    model: "some-model",
    max_tokens: 500,
    messages: [
      { role: "user", content: "Which test fails?" },
      { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "bash", input: { command: "npm test" } }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: tests.join("\n") }] },
    ],
  });
  assert.equal(content[0].text, "Test 1501 fails.");
  const sent = JSON.stringify(provider.requests[0].body);
  assert(sent.includes("not ok 1501 - sorts"), "what matters is there");
  console.log(`the tool printed ${tests.join("\n").length} characters, the provider got ${sent.length} in all`);
  assert(sent.length < tests.join("\n").length);
  const { rows } = await (await fetch(`${url}/api/stats`)).json();
  console.log(`the gateway counts ${rows[0].cutCalls} cut output of ${rows[0].tool}`);
  assert.deepEqual([rows[0].tool, rows[0].cutCalls], ["bash", 1]);
} finally {
  gateway.kill();
  await once(gateway, "close");
  await provider.stop();
  await rm(dir, { recursive: true, force: true });
}
