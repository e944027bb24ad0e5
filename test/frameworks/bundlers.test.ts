import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import webpack from "webpack";

// Applications that import `spillway`, bundled from dist/ with no setting for its sake. esbuild's are in ../bundled.test.ts.
const here = import.meta.dirname;
const root = resolve(here, "../..");
const folder = mkdtempSync(join(tmpdir(), "spillway-bundlers-"));
const env = { PATH: process.env.PATH, HOME: folder, NEXT_TELEMETRY_DISABLED: "1", SPILLWAY_DIR: join(folder, "data") };
const WHOLE = { shownChars: expect.any(Number), saved: "yes", faults: [], found: 100, read: "line 150", told: [] };

beforeAll(() => {
  const modules = join(folder, "node_modules");
  mkdirSync(modules);
  for (const name of ["next", "react", "react-dom"]) symlinkSync(join(here, "node_modules", name), join(modules, name));
  // Packages that npm would put there with Spillway, and that no bundle contains.
  for (const name of ["@photostructure", "@vscode"]) symlinkSync(join(root, "node_modules", name), join(modules, name));
  symlinkSync(root, join(modules, "spillway"));
  cpSync(join(root, "test/bundled"), folder, { recursive: true });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("webpack: a large output is cut, saved, searched and read back", { timeout: 240_000 }, async () => {
  const compiler = webpack({
    mode: "production",
    target: "node",
    entry: join(folder, "main.mjs"),
    output: { path: join(folder, "webpack"), filename: "app.cjs" },
  });
  const told = await new Promise((done, failed) => {
    compiler.run((error, stats) => {
      if (error) failed(error);
      else done(stats?.toString({ all: false, errors: true, warnings: true }));
    });
  });
  expect(told).toBe("");
  const app = execFileSync(process.execPath, [join(folder, "webpack/app.cjs"), '{"lines":40000}'], {
    encoding: "utf8",
    env,
  });
  expect(JSON.parse(app)).toEqual(WHOLE);
});

test("Next: the same in a route of its server", { timeout: 240_000 }, async () => {
  const route = join(folder, "app/admit");
  mkdirSync(route, { recursive: true });
  writeFileSync(
    join(route, "route.js"),
    `import { admitLarge } from "../../app.mjs";
    export const dynamic = "force-dynamic";
    export const GET = async () => Response.json(await admitLarge({ lines: 40_000 }));`,
  );
  const next = join(here, "node_modules/next/dist/bin/next");
  const built = execFileSync(process.execPath, [next, "build"], { cwd: folder, encoding: "utf8", env });
  expect(built).not.toMatch(/warn/i);
  const server = spawn(process.execPath, [next, "start", "-H", "127.0.0.1", "-p", "0"], { cwd: folder, env });
  const ended = once(server, "exit");
  try {
    const answer = await fetch(`${await addressOf(server.stdout)}/admit`);
    expect(await answer.json()).toEqual(WHOLE);
  } finally {
    server.kill();
    await ended;
  }
});

/** Where a server listens, once it says that it is ready. */
async function addressOf(output: AsyncIterable<Buffer>): Promise<string> {
  let said = "";
  for await (const chunk of output) {
    said += chunk;
    const address = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0];
    if (address !== undefined && said.includes("Ready")) return address;
  }
  throw new Error(`the server ended: ${said}`);
}
