import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const { resolve } = createRequire(import.meta.url);

// The module may stand anywhere, so packages are named by where they are.
const packagesByPlace: Plugin = {
  name: "packages-by-place",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[^./]/ }, ({ path }) => ({
      path: path.startsWith("node:") ? path : pathToFileURL(resolve(path)).href,
      external: true,
    }));
    onLoad({ filter: /load-package\.ts$/ }, () => ({
      contents: `import { createRequire } from "node:module";
        import { pathToFileURL } from "node:url";
        const { resolve } = createRequire(${JSON.stringify(import.meta.url)});
        export const loadPackage = (name) => import(pathToFileURL(resolve(name)).href);`,
    }));
  },
};

/** Writes a module that another process of any supported Node can run, from TypeScript that imports `./src/...`. */
export async function writeChildModule(source: string, outfile: string): Promise<void> {
  await build({
    stdin: { contents: source, resolveDir: root, loader: "ts" },
    bundle: true,
    format: "esm",
    platform: "node",
    outfile,
    logLevel: "silent",
    plugins: [packagesByPlace],
  });
}
