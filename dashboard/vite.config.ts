import { defineConfig } from "vite";
import { collectLicenses } from "../scripts/collect-licenses.mjs";

/** The dashboard, as files that `spillway serve` sends. No file holds a script or a style inside a page. */
export default defineConfig({
  root: import.meta.dirname,
  logLevel: "warn",
  build: {
    outDir: "../dist/dashboard",
    emptyOutDir: true,
    target: "es2023",
    assetsInlineLimit: 0,
    modulePreload: false,
  },
  worker: { format: "es" },
  plugins: [collectLicenses()],
});
