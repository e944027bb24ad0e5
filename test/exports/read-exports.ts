import ts from "typescript";

/** The names a module exports, sorted, types marked as such. Throws where they are not named one by one. */
export function readExports(path: string, text: string): string[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const names: string[] = [];

  for (const statement of source.statements) {
    if (ts.isExportDeclaration(statement) && statement.exportClause && ts.isNamedExports(statement.exportClause)) {
      for (const one of statement.exportClause.elements) {
        names.push(`${statement.isTypeOnly || one.isTypeOnly ? "type " : ""}${one.name.text}`);
      }
    } else if (ts.isExportDeclaration(statement) || ts.isExportAssignment(statement)) {
      throw unnamed(statement);
    } else if (ts.canHaveModifiers(statement) && isExported(statement)) {
      names.push(...declaredNames(statement));
    }
  }
  return names.sort();
}

function isExported(statement: ts.HasModifiers): boolean {
  return ts.getModifiers(statement)?.some((one) => one.kind === ts.SyntaxKind.ExportKeyword) ?? false;
}

function declaredNames(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.map(({ name }) => {
      if (!ts.isIdentifier(name)) throw unnamed(statement);
      return name.text;
    });
  }
  if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) {
    return [`type ${statement.name.text}`];
  }
  if ((ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement)) && statement.name) {
    return [statement.name.text];
  }
  throw unnamed(statement);
}

function unnamed(node: ts.Node): Error {
  const source = node.getSourceFile();
  const { line } = source.getLineAndCharacterOfPosition(node.getStart());
  return new Error(`${source.fileName}:${line + 1}: export names one by one`);
}
