import { EventEmitter } from "node:events";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, extname, join } from "node:path";
import { Readable, Writable } from "node:stream";
import type * as TreeSitter from "@vscode/tree-sitter-wasm";
import { SpillwayError } from "../../errors.ts";

/** A name that a file defines. */
export interface Definition {
  name: string;
  line: number;
  /** The source line of the definition, trimmed; of a function with all its parameters. */
  text: string;
  /** Other files can use it. */
  isPublic: boolean;
}

/** The names that one file defines and uses. */
export interface FileNames {
  path: string;
  definitions: Definition[];
  /** How often the file uses each name. */
  references: Map<string, number>;
}

/** Reads the names of files. Returns null for a file whose language is not known. */
export interface NameReader {
  read(path: string, shown: string): Promise<FileNames | null>;
  /** Does the same for a text that was read already. */
  readText(source: string, shown: string): Promise<FileNames | null>;
}

/** Larger source files are usually generated. */
export const MAX_FILE_BYTES = 512 * 1024;
const MAX_TEXT_CHARS = 160;

/** Returns true if the language of the file is known. */
export function isKnownFile(path: string): boolean {
  return languageOf(path) !== undefined;
}

function languageOf(path: string): Language | undefined {
  const extension = extname(path).toLowerCase();
  return LANGUAGES.find(({ extensions }) => extensions.includes(extension));
}

let reader: Promise<NameReader> | null = null;

/**
 * Loads the parser once per process, because its memory is never freed. Loads a grammar when the first file needs it.
 */
export function loadNameReader(): Promise<NameReader> {
  reader ??= openNameReader();
  return reader;
}

function requireParser(require: NodeJS.Require): typeof TreeSitter {
  try {
    return require("@vscode/tree-sitter-wasm") as typeof TreeSitter;
  } catch (cause) {
    const what = "maps and outlines of code need the package @vscode/tree-sitter-wasm (21 MB), which is not installed";
    throw new SpillwayError("missing-part", `${what}. Run: npm install @vscode/tree-sitter-wasm@0.3.1`, { cause });
  }
}

async function openNameReader(): Promise<NameReader> {
  const require = createRequire(import.meta.url);
  const { Language: Grammar, Parser, Query } = requireParser(require);
  const folder = dirname(require.resolve("@vscode/tree-sitter-wasm"));
  await Parser.init();
  const loaded = new Map<Language, Promise<{ parser: TreeSitter.Parser; query: TreeSitter.Query }>>();
  const load = async ({ grammar, query }: Language) => {
    const language = await Grammar.load(await readFile(join(folder, grammar)));
    const parser = new Parser();
    parser.setLanguage(language);
    return { parser, query: new Query(language, query) };
  };
  async function readText(source: string, shown: string): Promise<FileNames | null> {
    const language = languageOf(shown);
    if (language === undefined || source.length > MAX_FILE_BYTES) return null;
    if (!loaded.has(language)) loaded.set(language, load(language));
    const { parser, query } = await (loaded.get(language) as ReturnType<typeof load>);
    return namesOf(parser, query, source, { path: shown, language });
  }
  return {
    readText,
    async read(path, shown) {
      const source = isKnownFile(path) ? await readFile(path, "utf8").catch(() => null) : null;
      return source === null ? null : readText(source, shown);
    },
  };
}

function namesOf(
  parser: TreeSitter.Parser,
  query: TreeSitter.Query,
  source: string,
  { path, language }: { path: string; language: Language },
): FileNames {
  const names: FileNames = { path, definitions: [], references: new Map() };
  const tree = parser.parse(source);
  if (tree === null) return names;
  const lines = source.split("\n");
  const exported = new Set<string>();
  // CommonJS hands out names in more ways than the grammar shows.
  const isCommonJs = language.commonJs?.test(source) ?? false;
  for (const { name: role, node } of query.captures(tree.rootNode)) {
    if (role === "exported") {
      exported.add(node.text);
    } else if (role === "definition") {
      const { row } = node.startPosition;
      const text = signatureAt(lines, row);
      const isPublic =
        !isLocal(node) && language.isPublic({ name: node.text, text, isExported: isCommonJs || isExported(node) });
      names.definitions.push({ name: node.text, line: row + 1, text, isPublic });
    } else if (role === "reference" || !language.builtIns.has(node.text)) {
      names.references.set(node.text, (names.references.get(node.text) ?? 0) + 1);
    }
  }
  // The tree is in the parser's own memory, which no garbage collector frees.
  tree.delete();
  for (const definition of names.definitions) if (exported.has(definition.name)) definition.isPublic = true;
  return names;
}

/** A line and those after it up to the end of the parameters, as one line. */
function signatureAt(lines: readonly string[], row: number): string {
  let text = (lines[row] ?? "").trim();
  for (let at = row + 1; isOpen(text) && text.length < MAX_TEXT_CHARS && at < lines.length; at++) {
    const next = (lines[at] ?? "").trim();
    text += text.endsWith("(") || next.startsWith(")") ? next : ` ${next}`;
  }
  return text.slice(0, MAX_TEXT_CHARS).toWellFormed();
}

function isOpen(text: string): boolean {
  return text.split("(").length > text.split(")").length;
}

/** Returns true for a definition inside of a function. */
function isLocal(node: TreeSitter.Node): boolean {
  return hasAbove(node, /function|method|lambda|closure|func_literal/);
}

function isExported(node: TreeSitter.Node): boolean {
  return hasAbove(node, /^export_statement$/);
}

function hasAbove(node: TreeSitter.Node, type: RegExp): boolean {
  for (let above = node.parent?.parent ?? null; above !== null; above = above.parent) {
    if (type.test(above.type)) return true;
  }
  return false;
}

/** One language that maps know. The grammar is a file of @vscode/tree-sitter-wasm. */
interface Language {
  name: string;
  extensions: readonly string[];
  grammar: string;
  /**
   * Captures what defines a name as @definition, what uses one as @reference, and what calls a method as @member, and
   * what is exported elsewhere than where it is defined as @exported.
   */
  query: string;
  /** Methods that every program of this language calls: they say nothing about a file that has one of that name. */
  builtIns: ReadonlySet<string>;
  isPublic(definition: { name: string; text: string; isExported: boolean }): boolean;
  /** Found in files whose exports are plain assignments. */
  commonJs?: RegExp;
}

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));
const VALUE_CLASSES = [Array, String, Number, Function, RegExp, Date, Uint8Array, Error, Object];
const BUILT_IN_CLASSES = [...VALUE_CLASSES, Map, Set, WeakMap, Promise];
const NODE_CLASSES = [Buffer, EventEmitter, Readable, Writable, URL, AbortSignal, TextDecoder];
const SCRIPT_BUILT_INS: ReadonlySet<string> = new Set(
  [
    ...BUILT_IN_CLASSES,
    ...[...BUILT_IN_CLASSES, ...NODE_CLASSES].map(({ prototype }) => prototype),
    JSON,
    Math,
    Reflect,
    console,
  ].flatMap((each) => Object.getOwnPropertyNames(each)),
);

const isExportedScript: Language["isPublic"] = ({ name, text, isExported }) =>
  isExported && !/^[#_]/.test(name) && !/^(private|protected)\b/.test(text);

const SCRIPT = `
  (function_declaration name: (identifier) @definition)
  (generator_function_declaration name: (identifier) @definition)
  (class_body (method_definition name: (property_identifier) @definition))
  (program (lexical_declaration (variable_declarator name: (identifier) @definition)))
  (program (export_statement (lexical_declaration (variable_declarator name: (identifier) @definition))))
  (call_expression function: (identifier) @reference)
  (call_expression function: (member_expression property: (property_identifier) @member))
  (new_expression constructor: (identifier) @reference)
  (export_specifier name: (identifier) @exported)`;

const TYPED = `${SCRIPT}
  (class_declaration name: (type_identifier) @definition)
  (abstract_class_declaration name: (type_identifier) @definition)
  (interface_declaration name: (type_identifier) @definition)
  (type_alias_declaration name: (type_identifier) @definition)
  (enum_declaration name: (identifier) @definition)
  (type_identifier) @reference`;

const ANY_SCRIPT = { query: TYPED, builtIns: SCRIPT_BUILT_INS, isPublic: isExportedScript };

/** The known languages, one row each. */
export const LANGUAGES: readonly Language[] = [
  { ...ANY_SCRIPT, name: "TypeScript", extensions: [".ts", ".mts", ".cts"], grammar: "tree-sitter-typescript.wasm" },
  { ...ANY_SCRIPT, name: "TSX", extensions: [".tsx"], grammar: "tree-sitter-tsx.wasm" },
  {
    ...ANY_SCRIPT,
    name: "JavaScript",
    extensions: [".js", ".mjs", ".cjs", ".jsx"],
    grammar: "tree-sitter-javascript.wasm",
    query: `${SCRIPT}
  (class_declaration name: (identifier) @definition)`,
    commonJs: /\bexports\s*(?:\.\s*\w+\s*)?=[^=]/,
  },
  {
    name: "Python",
    extensions: [".py", ".pyi"],
    grammar: "tree-sitter-python.wasm",
    query: `
  (function_definition name: (identifier) @definition)
  (class_definition name: (identifier) @definition)
  (module (expression_statement (assignment left: (identifier) @definition)))
  (call function: (identifier) @reference)
  (call function: (attribute attribute: (identifier) @member))
  (argument_list (identifier) @reference)`,
    builtIns: words(`
      add append clear close copy count decode discard encode endswith extend find flush format get index insert items join
      keys lower lstrip open pop popitem read readline readlines remove replace reverse rstrip seek setdefault sort split
      splitlines startswith strip title union update upper values write`),
    isPublic: ({ name }) => !name.startsWith("_"),
  },
  {
    name: "Go",
    extensions: [".go"],
    grammar: "tree-sitter-go.wasm",
    query: `
  (function_declaration name: (identifier) @definition)
  (method_declaration name: (field_identifier) @definition)
  (type_spec name: (type_identifier) @definition)
  (call_expression function: (identifier) @reference)
  (call_expression function: (selector_expression field: (field_identifier) @member))
  (type_identifier) @reference`,
    builtIns: words(`
      Add Close Done Error Errorf Fatal Fatalf Fprintf Join Len Lock Log Logf New Print Printf Println Read RLock RUnlock
      Sprintf String Unlock Wait Write`),
    isPublic: ({ name }) => /^\p{Lu}/u.test(name),
  },
  {
    name: "Rust",
    extensions: [".rs"],
    grammar: "tree-sitter-rust.wasm",
    query: `
  (function_item name: (identifier) @definition)
  (struct_item name: (type_identifier) @definition)
  (enum_item name: (type_identifier) @definition)
  (trait_item name: (type_identifier) @definition)
  (call_expression function: (identifier) @reference)
  (call_expression function: (field_expression field: (field_identifier) @member))
  (type_identifier) @reference`,
    builtIns: words(`
      and_then as_bytes as_mut as_ref as_str borrow chars clone cloned collect contains enumerate eq err expect extend filter
      find flatten fmt fold get insert into into_iter is_empty is_none is_some iter iter_mut join keys last len lock map
      map_err max min next ok ok_or pop push push_str read remove replace rev sort split sum take to_owned to_string to_vec
      trim unwrap unwrap_or unwrap_or_default unwrap_or_else values write zip`),
    isPublic: ({ text }) => /^pub\b/.test(text),
  },
  {
    name: "Java",
    extensions: [".java"],
    grammar: "tree-sitter-java.wasm",
    query: `
  (class_declaration name: (identifier) @definition)
  (interface_declaration name: (identifier) @definition)
  (enum_declaration name: (identifier) @definition)
  (method_declaration name: (identifier) @definition)
  (method_invocation name: (identifier) @member)
  (type_identifier) @reference`,
    builtIns: words(`
      add addAll append apply charAt clear close collect compareTo contains containsKey entrySet equals filter forEach format
      get getClass getKey getMessage getName getOrDefault getValue hashCode indexOf isEmpty iterator join keySet length map
      next of println put read remove replace size sort split startsWith stream substring test toArray toString trim valueOf
      values write`),
    isPublic: ({ text }) => /\bpublic\b/.test(text),
  },
];
