import { existsSync, statSync } from "node:fs";
import { posix } from "node:path";
import type { Page } from "./read-page.ts";

/** Links to files that are not there, or to headings that they do not have. Addresses of other hosts are not visited. */
export function checkLinks(pages: Page[]): string[] {
  const byPath = new Map(pages.map((page) => [page.path, page]));
  return pages.flatMap((page) =>
    page.links.flatMap(({ target, line }) => {
      const fault = checkLink(page, target, byPath);
      return fault ? [`${page.path}:${line}: ${target}: ${fault}`] : [];
    }),
  );
}

function checkLink(page: Page, target: string, byPath: Map<string, Page>): string | null {
  if (/^[a-z][a-z+.-]*:/i.test(target)) return null;
  const [path = "", anchor] = target.split("#", 2);
  const file = path === "" ? page.path : posix.join(posix.dirname(page.path), decodeURIComponent(path));
  if (file.startsWith("..")) return "outside the project";
  if (file !== page.path && !existsSync(file)) return "no such file";
  if (anchor === undefined || (file !== page.path && statSync(file).isDirectory())) return null;
  const anchors = byPath.get(file)?.anchors;
  if (anchors) return anchors.has(anchor) ? null : "no such heading";
  // Lines of a source file can be named (#L12), nothing else can.
  return /^L\d+(-L\d+)?$/.test(anchor) ? null : "not a page of ours, so its headings are not known";
}
