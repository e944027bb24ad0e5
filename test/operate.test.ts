import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { parse } from "yaml";

// The files for operators in the guide: as much of them is tried as can be without systemd and containers.
const CLI = new URL("../dist/cli.cjs", import.meta.url).pathname;
const pageOf = (name: string) => readFileSync(new URL(`../docs/guide/${name}.md`, import.meta.url), "utf8");
const page = pageOf("many-machines");
const folder = mkdtempSync(join(tmpdir(), "spillway-operate-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const block = (kind: string) => new RegExp(`\`\`\`${kind}\\n([^]*?)\`\`\``).exec(page)?.[1] ?? "";
const unit = block("ini");
const image = block("dockerfile");
const compose = parse(block("yaml other"));

/** Starts the words of a file as they stand there, but on this machine's address and a free port. */
async function starts(words: string[]): Promise<void> {
  expect(words[0]).toMatch(/(^|\/)spillway$/);
  const given = words.slice(1).filter((word, at) => word !== "--port" && words[at] !== "--port");
  const here = given.map((word) => (word === "0.0.0.0" ? "127.0.0.1" : word));
  const env = {
    PATH: process.env["PATH"],
    HOME: folder,
    SPILLWAY_DIR: folder,
    SPILLWAY_TOKEN: "a-token-of-24-characters",
  };
  const server = spawn(process.execPath, [CLI, ...here, "--port", "0"], { cwd: folder, env });
  try {
    const [greeting] = await once(server.stdout, "data");
    const url = /http:\/\/[\d.]+:\d+/.exec(String(greeting))?.[0] ?? "";
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    server.kill("SIGTERM");
    expect(await once(server, "exit")).toEqual([0, null]);
  } finally {
    server.kill("SIGKILL");
  }
}

describe("the files for operators", () => {
  it("have a unit whose command starts, and ends within its time when it is told to", async () => {
    const lines = new Map(
      unit.split("\n").flatMap((line) => (/^(\w+)=(.*)$/.exec(line) ? [line.split(/=(.*)/s)] : [])) as [
        string,
        string,
      ][],
    );
    expect(lines.get("Environment")).toBe(`SPILLWAY_DIR=/var/lib/${lines.get("StateDirectory")}`);
    await starts(lines.get("ExecStart")?.split(" ") ?? []);
  });

  const analyze = spawnSync("systemd-analyze", ["--version"]);
  it.skipIf(analyze.error !== undefined)("have a unit that systemd takes", () => {
    const file = join(folder, "spillway.service");
    writeFileSync(file, unit.replace("/usr/bin/spillway", process.execPath));
    const { status, stderr } = spawnSync("systemd-analyze", ["verify", file], { encoding: "utf8" });
    expect([status, stderr]).toEqual([0, expect.not.stringContaining("spillway.service")]);
  });

  it("have an image whose command starts", async () => {
    const [, command = "[]"] = /^CMD (.*)$/m.exec(image) ?? [];
    await starts(JSON.parse(command));
    // The packages that a ledger and a bucket need are those that the package names.
    const { peerDependencies, optionalDependencies } = JSON.parse(
      readFileSync(new URL("../package.json", import.meta.url), "utf8"),
    );
    const [, installed = ""] = /npm install -g (.*)$/m.exec(image) ?? [];
    const known = Object.keys({ spillway: "", ...peerDependencies, ...optionalDependencies });
    for (const name of installed.split(" ")) expect(known).toContain(name);
  });

  it("have services whose variables are ours, and whose volumes are there", () => {
    const { spillway, db } = compose.services;
    const known = ["SPILLWAY_LEDGER", "SPILLWAY_STORE", "SPILLWAY_TOKEN", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"];
    expect(Object.keys(spillway.environment).sort()).toEqual(known.sort());
    expect(new URL(spillway.environment.SPILLWAY_LEDGER.replace("${DB_PASSWORD}", "p"))).toMatchObject({
      hostname: "db",
      username: db.environment.POSTGRES_USER,
      pathname: `/${db.environment.POSTGRES_DB}`,
    });
    for (const [volume, path] of [...spillway.volumes, ...db.volumes].map((each: string) => each.split(":"))) {
      expect(Object.keys(compose.volumes)).toContain(volume);
      if (volume === "spool") expect(image).toContain(`VOLUME ${path}\n`);
    }
    expect(spillway.depends_on.db.condition).toBe("service_healthy");
  });

  it("have one service that starts, and can write where its root is read-only", async () => {
    const [, text = ""] = /```yaml other\n(services:[^]*?)```/.exec(pageOf("operations")) ?? [];
    const { services, volumes } = parse(text);
    const { build, command, environment, volumes: mounted, read_only, tmpfs } = services.spillway;
    expect({ build, read_only, tmpfs }).toEqual({ build: ".", read_only: true, tmpfs: ["/tmp"] });
    expect(mounted).toEqual([`${Object.keys(volumes)[0]}:${environment.SPILLWAY_DIR}`]);
    expect(image).toContain(`VOLUME ${environment.SPILLWAY_DIR}\n`);
    await starts(command.split(" "));
  });
});
