import ts from "typescript";

/** How a file reaches for another: at load, only for its types, or by `import()` when it gets there. */
export type ImportKind = "static" | "type" | "on use";

/** One import as written. */
export interface Import {
  specifier: string;
  kind: ImportKind;
  /** 1-based. */
  line: number;
}

/** What a source file imports, and whether it leaves anything behind when its types are erased. */
export interface FileImports {
  imports: Import[];
  typesOnly: boolean;
}

/** Reads every way to name a module: import, export from, import(), import types, require. */
export function readImports(name: string, text: string): FileImports {
  const source = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
  const imports: Import[] = [];

  const add = (specifier: ts.Node | undefined, kind: ImportKind) => {
    if (!specifier || !ts.isStringLiteralLike(specifier)) return;
    const { line } = source.getLineAndCharacterOfPosition(specifier.getStart());
    imports.push({ specifier: specifier.text, kind, line: line + 1 });
  };

  const visit = (node: ts.Node) => {
    if (ts.isImportDeclaration(node)) {
      add(node.moduleSpecifier, isTypeOnly(node) ? "type" : "static");
    } else if (ts.isExportDeclaration(node)) {
      add(node.moduleSpecifier, node.isTypeOnly ? "type" : "static");
    } else if (ts.isExternalModuleReference(node)) {
      add(node.expression, "static");
    } else if (ts.isImportTypeNode(node)) {
      add(ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined, "type");
    } else if (ts.isCallExpression(node)) {
      if (node.expression.kind === ts.SyntaxKind.ImportKeyword) add(node.arguments[0], "on use");
      else if (ts.isIdentifier(node.expression) && node.expression.text === "require") add(node.arguments[0], "static");
    }
    ts.forEachChild(node, visit);
  };
  visit(source);

  return { imports, typesOnly: source.statements.every(isErased) };
}

// `import { type A }` is not erased whole under verbatimModuleSyntax: the module is still loaded.
function isTypeOnly(node: ts.ImportDeclaration): boolean {
  return node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
}

function isErased(node: ts.Statement): boolean {
  return (
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    (ts.isImportDeclaration(node) && isTypeOnly(node)) ||
    (ts.isExportDeclaration(node) && node.isTypeOnly)
  );
}
