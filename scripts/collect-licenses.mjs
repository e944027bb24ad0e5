import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A plugin that writes the licenses of every package whose code is inside a bundle beside it, as those licenses ask. */
export function collectLicenses() {
  return {
    name: "collect-licenses",
    generateBundle(_options, bundle) {
      const folders = new Set();
      for (const file of Object.values(bundle)) {
        for (const id of file.type === "chunk" ? file.moduleIds : []) {
          const folder = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0];
          if (folder) folders.add(folder);
        }
      }
      const source = [...folders].toSorted().map(licenseOf).join("\n\n");
      if (source) this.emitFile({ type: "asset", fileName: "THIRD-PARTY-LICENSES.txt", source: `${source}\n` });
    },
  };
}

function licenseOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file) throw new Error(`${name} ${version} has no license file to pass on.`);
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), "utf8").trim()}`;
}
