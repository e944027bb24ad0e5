// Questions about real JSON answers of the package registry, each with an answer that stands in one place of it.
import { execFileSync } from "node:child_process";

const PACKAGES = [
  "express",
  "lodash",
  "chalk",
  "commander",
  "debug",
  "uuid",
  "semver",
  "yargs",
  "minimist",
  "ws",
  "glob",
  "dotenv",
];

/** Cases of a registry's answers: whole documents, and lists of versions as other APIs give them. */
export async function jsonCases(seeded) {
  const registry = execFileSync("npm", ["config", "get", "registry"], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  }).trim();
  const cases = [];
  for (const [index, name] of PACKAGES.entries()) {
    const response = await fetch(new URL(name, registry)).catch(() => null);
    if (!response?.ok) continue;
    const text = (await response.text()).replaceAll(new URL(registry).origin, "https://registry.example.org");
    const document = JSON.parse(text);
    const pick = seeded(index + 1);
    const versions = Object.keys(document.versions).filter(
      (each) => document.versions[each].dist?.shasum && document.time?.[each],
    );
    const version = versions[pick(versions.length)];
    const found = document.versions[version];
    const add = (kind, body, focus, truth) => {
      if (body.split(truth).length !== 2) return;
      cases.push({
        id: `${name}-${kind}`,
        group: name,
        output: Buffer.from(body),
        truth: [truth],
        exitCode: null,
        tool: "http_get",
        focus,
      });
    };
    if (text.length > 20_000 && text.length < 3e6) {
      add("shasum", text, `What is the shasum of the tarball of ${name} version ${version}?`, found.dist.shasum);
      add("published", text, `When was ${name} ${version} published?`, document.time[version]);
    }
    // A list of like objects, as most APIs answer.
    const rows = versions.map((each) => {
      const { dist, dependencies, engines, _npmUser, description } = document.versions[each];
      return {
        version: each,
        published: document.time[each],
        description,
        dist: { shasum: dist.shasum, tarball: dist.tarball },
        dependencies,
        engines,
        publisher: _npmUser?.name,
      };
    });
    const list = JSON.stringify(
      { package: name, total: rows.length, releases: rows },
      null,
      index % 2 === 0 ? 2 : undefined,
    );
    if (list.length > 20_000) {
      add("list-shasum", list, `I need the checksum of release ${version}, please.`, found.dist.shasum);
      add(
        "list-when",
        list,
        `Which release of ${name} came out on ${document.time[version].slice(0, 10)}? I want its exact time.`,
        document.time[version],
      );
      const [dependency] = Object.entries(found.dependencies ?? {})[0] ?? [];
      if (dependency !== undefined)
        add(
          "list-dependency",
          list,
          `Which range of ${dependency} did ${version} ask for, and what was its shasum?`,
          found.dist.shasum,
        );
    }
  }
  return cases;
}
