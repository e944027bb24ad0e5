/** A language that maps know: one row each; the grammar is a file of @vscode/tree-sitter-wasm. */
export interface Language {
  name: string;
  extensions: readonly string[];
  grammar: string;
  /** What defines a name, captured as @definition, and what uses one, as @reference. */
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

/** The languages; a further one is a further row. */
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
