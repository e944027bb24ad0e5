import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, extname, join } from "node:path";
import type * as TreeSitter from "@vscode/tree-sitter-wasm";

/** A name that a file defines. */
export interface Definition {
  name: string;
  line: number;
  /** The source line of the definition, trimmed. */
  text: string;
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

const MAX_FILE_BYTES = 512 * 1024;
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

async function openNameReader(): Promise<NameReader> {
  const require = createRequire(import.meta.url);
  const { Language: Grammar, Parser, Query } = require("@vscode/tree-sitter-wasm") as typeof TreeSitter;
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
    return namesOf(parser, query, source, shown);
  }
  return {
    readText,
    async read(path, shown) {
      const source = isKnownFile(path) ? await readFile(path, "utf8").catch(() => null) : null;
      return source === null ? null : readText(source, shown);
    },
  };
}

function namesOf(parser: TreeSitter.Parser, query: TreeSitter.Query, source: string, path: string): FileNames {
  const names: FileNames = { path, definitions: [], references: new Map() };
  const tree = parser.parse(source);
  if (tree === null) return names;
  const lines = source.split("\n");
  for (const { name: role, node } of query.captures(tree.rootNode)) {
    if (role === "reference") {
      names.references.set(node.text, (names.references.get(node.text) ?? 0) + 1);
      continue;
    }
    const { row } = node.startPosition;
    const text = (lines[row] ?? "").trim().slice(0, MAX_TEXT_CHARS).toWellFormed();
    names.definitions.push({ name: node.text, line: row + 1, text });
  }
  // The tree is in the parser's own memory, which no garbage collector frees.
  tree.delete();
  return names;
}

/** One language that maps know. The grammar is a file of @vscode/tree-sitter-wasm. */
interface Language {
  name: string;
  extensions: readonly string[];
  grammar: string;
  /** Captures what defines a name as @definition and what uses one as @reference. */
  query: string;
}

const SCRIPT = `
  (function_declaration name: (identifier) @definition)
  (generator_function_declaration name: (identifier) @definition)
  (method_definition name: (property_identifier) @definition)
  (program (lexical_declaration (variable_declarator name: (identifier) @definition)))
  (program (export_statement (lexical_declaration (variable_declarator name: (identifier) @definition))))
  (call_expression function: (identifier) @reference)
  (call_expression function: (member_expression property: (property_identifier) @reference))
  (new_expression constructor: (identifier) @reference)`;

const TYPED = `${SCRIPT}
  (class_declaration name: (type_identifier) @definition)
  (abstract_class_declaration name: (type_identifier) @definition)
  (interface_declaration name: (type_identifier) @definition)
  (type_alias_declaration name: (type_identifier) @definition)
  (enum_declaration name: (identifier) @definition)
  (type_identifier) @reference`;

/** The known languages, one row each. */
export const LANGUAGES: readonly Language[] = [
  { name: "TypeScript", extensions: [".ts", ".mts", ".cts"], grammar: "tree-sitter-typescript.wasm", query: TYPED },
  { name: "TSX", extensions: [".tsx"], grammar: "tree-sitter-tsx.wasm", query: TYPED },
  {
    name: "JavaScript",
    extensions: [".js", ".mjs", ".cjs", ".jsx"],
    grammar: "tree-sitter-javascript.wasm",
    query: `${SCRIPT}
  (class_declaration name: (identifier) @definition)`,
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
  (call function: (attribute attribute: (identifier) @reference))
  (argument_list (identifier) @reference)`,
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
  (call_expression function: (selector_expression field: (field_identifier) @reference))
  (type_identifier) @reference`,
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
  (call_expression function: (field_expression field: (field_identifier) @reference))
  (type_identifier) @reference`,
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
  (method_invocation name: (identifier) @reference)
  (type_identifier) @reference`,
  },
];
