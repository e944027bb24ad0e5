/** A fenced block: its language, the words after it, its text, and the line (1-based) on which the text begins. */
export interface Fence {
  language: string;
  tags: string[];
  text: string;
  line: number;
  /** Blocks with nothing but blank lines between them: a command and what it prints. */
  followsPrevious: boolean;
}

/** A link as written, with the line on which it stands. */
export interface Link {
  target: string;
  line: number;
}

/** What the checks need to know of a Markdown page. */
export interface Page {
  path: string;
  lines: string[];
  fences: Fence[];
  links: Link[];
  anchors: Set<string>;
}

/** Reads a page's fenced blocks, links and headings. */
export function readPage(path: string, text: string): Page {
  const page: Page = { path, lines: text.split("\n"), fences: [], links: [], anchors: new Set() };
  let open: { mark: string; fence: Fence } | null = null;
  let proseSinceFence = true;

  for (const [index, line] of page.lines.entries()) {
    const number = index + 1;
    if (open) {
      if (line.trim() === open.mark) {
        page.fences.push(open.fence);
        open = null;
        proseSinceFence = false;
      } else {
        open.fence.text += `${line}\n`;
      }
      continue;
    }
    const start = /^(`{3,}|~{3,})\s*(.*)$/.exec(line);
    if (start) {
      const [language = "", ...tags] = (start[2] ?? "").split(/\s+/);
      const fence = { language, tags, text: "", line: number + 1, followsPrevious: !proseSinceFence };
      open = { mark: start[1] ?? "", fence };
      continue;
    }
    if (line.trim() !== "") proseSinceFence = true;
    readProse(page, line, number);
  }
  if (open) throw new Error(`${path}:${open.fence.line - 1}: this fence is never closed`);
  return page;
}

function readProse(page: Page, line: string, number: number): void {
  const heading = /^#{1,6}\s+(.*?)\s*#*$/.exec(line);
  if (heading) page.anchors.add(freeAnchor(slug(heading[1] ?? ""), page.anchors));
  for (const [, name = ""] of line.matchAll(/<a\s+(?:id|name)="([^"]+)"/g)) page.anchors.add(name);

  const prose = line.replace(/(`+).*?\1/g, "");
  for (const [, target = ""] of prose.matchAll(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g)) {
    page.links.push({ target, line: number });
  }
  const definition = /^\[[^\]]+\]:\s+(\S+)/.exec(prose);
  if (definition) page.links.push({ target: definition[1] ?? "", line: number });
}

/** A heading's anchor as code hosts make it: letters, digits, hyphens; spaces become hyphens. */
export function slug(heading: string): string {
  return heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replace(/\s/g, "-");
}

function freeAnchor(wanted: string, taken: Set<string>): string {
  let anchor = wanted;
  for (let count = 1; taken.has(anchor); count++) anchor = `${wanted}-${count}`;
  return anchor;
}
