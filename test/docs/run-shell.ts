import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import type { Page } from "./read-page.ts";

const MAX_MS = 240_000;

/**
 * Runs a page's `sh run` blocks in order in one fresh folder where `spillway` is installed. A block that fails is a fault,
 * and so is one followed by a `text` block that says something else; a line `...` there stands for any lines.
 */
export function runShell(page: Page): string[] {
  const blocks = page.fences.filter((fence) => fence.language === "sh" && fence.tags.includes("run"));
  if (blocks.length === 0) return [];

  const folder = mkdtempSync(join(tmpdir(), "spillway-docs-"));
  try {
    const bin = join(folder, "node_modules", ".bin");
    mkdirSync(bin, { recursive: true });
    symlinkSync(resolve("."), join(folder, "node_modules", "spillway"), "dir");
    symlinkSync(resolve("dist/cli.cjs"), join(bin, "spillway"));
    const env = {
      PATH: `${bin}${delimiter}${process.env["PATH"]}`,
      HOME: folder,
      TERM: "dumb",
      LC_ALL: "C.UTF-8",
      // What npx would add to what the page shows.
      npm_config_loglevel: "error",
      npm_config_offline: "true",
      npm_config_update_notifier: "false",
    };

    return blocks.flatMap((block) => {
      const script = `exec 2>&1\n${block.text}`;
      const result = spawnSync("bash", ["-euo", "pipefail", "-c", script], { cwd: folder, env, timeout: MAX_MS });
      const printed = String(result.stdout).trimEnd();
      const place = `${page.path}:${block.line}`;
      if (result.status !== 0) return [`${place}: ended with ${result.status ?? result.signal}\n${printed}`];

      const next = page.fences[page.fences.indexOf(block) + 1];
      if (next?.language !== "text" || !next.followsPrevious) return [];
      return matches(printed, next.text.trimEnd())
        ? []
        : [`${place}: printed\n${printed}\nbut the page shows\n${next.text}`];
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Whether what was printed is what a page shows, where a line `...` stands for any number of lines. */
export function matches(printed: string, shown: string): boolean {
  const parts = `${shown}\n`.split(/^\.\.\.\n/m);
  const pattern = parts.map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("(?:[^]*\\n)?");
  return new RegExp(`^${pattern}$`).test(`${printed}\n`);
}
