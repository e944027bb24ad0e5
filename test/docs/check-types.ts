import { resolve } from "node:path";
import ts from "typescript";
import type { Fence, Page } from "./read-page.ts";

const LANGUAGES: Record<string, string> = { ts: "ts", typescript: "ts", js: "js", javascript: "js", mjs: "js" };
// A parameter without a type is no fault in JavaScript.
const UNTYPED_CODES = new Set([7005, 7006, 7031, 7034]);

/** Package subpaths by the source file that stands behind each. */
export type Subpaths = Record<string, string>;

/**
 * Type-checks every ts and js block as a module of its own; one tagged `continue` goes on in the module of the block
 * before it. A block's text stands on the same lines as in its page, so faults name the page's lines.
 */
export function checkTypes(pages: Page[], subpaths: Subpaths): string[] {
  const modules = new Map<string, { page: Page; text: string }>();
  for (const page of pages) for (const one of modulesOf(page)) modules.set(resolve(one.name), { page, text: one.text });
  if (modules.size === 0) return [];

  const options = optionsFor(subpaths);
  const host = ts.createCompilerHost(options);
  const { readFile, fileExists } = host;
  host.fileExists = (path) => modules.has(resolve(path)) || fileExists(path);
  host.readFile = (path) => modules.get(resolve(path))?.text ?? readFile(path);

  const program = ts.createProgram([...modules.keys()], options, host);
  const faults = program.getOptionsDiagnostics().map((one) => ts.flattenDiagnosticMessageText(one.messageText, " "));
  for (const [name, { page }] of modules) {
    const source = program.getSourceFile(name);
    if (!source) throw new Error(`${name} was not read`);
    for (const one of [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]) {
      if (name.endsWith(".js") && UNTYPED_CODES.has(one.code)) continue;
      const { line } = source.getLineAndCharacterOfPosition(one.start ?? 0);
      faults.push(`${page.path}:${line + 1}: ${ts.flattenDiagnosticMessageText(one.messageText, " ")}`);
    }
  }
  return faults;
}

function modulesOf(page: Page): { name: string; text: string }[] {
  const groups: { extension: string; fences: Fence[] }[] = [];
  for (const fence of page.fences) {
    const extension = LANGUAGES[fence.language];
    // Those need the real frameworks, and are compiled in test/frameworks/newer-node.
    if (!extension || fence.tags.includes("frameworks")) continue;
    const last = groups.at(-1);
    if (fence.tags.includes("continue") && last) last.fences.push(fence);
    else groups.push({ extension, fences: [fence] });
  }
  return groups.map(({ extension, fences }, index) => {
    const lines: string[] = Array.from({ length: page.lines.length }, () => "");
    for (const fence of fences) {
      for (const [offset, line] of fence.text.split("\n").entries()) lines[fence.line - 1 + offset] = line;
    }
    return { name: `${page.path}.${index + 1}.${extension}`, text: `${lines.join("\n")}\nexport {};\n` };
  });
}

function optionsFor(subpaths: Subpaths): ts.CompilerOptions {
  const { config } = ts.readConfigFile("tsconfig.json", ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, process.cwd());
  return {
    ...options,
    allowJs: true,
    checkJs: true,
    noUnusedLocals: false,
    noUnusedParameters: false,
    paths: Object.fromEntries(Object.entries(subpaths).map(([name, path]) => [name, [resolve(path)]])),
  };
}
