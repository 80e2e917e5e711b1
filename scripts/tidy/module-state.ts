// Finds mutable state at module level of src/. State belongs to an object that app.ts, or the start of a
// thread, makes and passes on; a module has constants only.
import {
  type Node,
  SyntaxKind,
  type VariableDeclaration,
  type VariableStatement,
} from "typescript/unstable/ast";
import {
  isAsExpression,
  isAssignmentOperator,
  isBinaryExpression,
  isCallExpression,
  isDeleteExpression,
  isElementAccessExpression,
  isIdentifier,
  isNewExpression,
  isNonNullExpression,
  isParameterDeclaration,
  isParenthesizedExpression,
  isPostfixUnaryExpression,
  isPrefixUnaryExpression,
  isPropertyAccessExpression,
  isPropertyDeclaration,
  isSatisfiesExpression,
  isVariableDeclaration,
  isVariableStatement,
} from "typescript/unstable/ast/is";
import { type Finding, isTest, lineOf, nodesOf, type Source } from "./source.ts";

/** Classes whose objects never change. */
const constantClasses: ReadonlySet<string> = new Set([
  "BytesLiteral",
  "Error",
  "RegExp",
  "Sql",
  "TextDecoder",
  "TextEncoder",
  "URL",
]);

/**
 * Files whose functions may share buffers of numbers. Each call of the block codec fills a buffer before it
 * reads it, and runs to its end, so that nothing in it outlives the call.
 */
const scratchFiles = /^src\/storage\/(embedded-points\/codec\/[^/]+|summary)\.ts$/;
const typedArray = /^(Big)?(Uint|Int|Float)\d+(Clamped)?Array$/;

const mutators: ReadonlySet<string> = new Set([
  ...["add", "clear", "copyWithin", "delete", "fill", "pop", "push"],
  ...["reverse", "set", "shift", "sort", "splice", "unshift"],
]);

export function moduleStateFindings(source: Source): Finding[] {
  const { path, tree } = source;
  if (!path.startsWith("src/") || isTest(path)) return [];
  const finding = (node: Node, problem: string) => ({ path, line: lineOf(source, node), problem });
  const constants = new Set<string>();
  const found: Finding[] = [];
  for (const declaration of tree.statements.filter(isVariableStatement).flatMap(declarationsOf)) {
    const name = declaration.name.getText(tree);
    const kind = kindOf(declaration, source);
    if (kind === "constant") constants.add(name);
    else if (kind !== "scratch") found.push(finding(declaration, `${name} is ${kind} of its module`));
  }
  for (const name of localNames(source)) constants.delete(name);
  for (const node of nodesOf(tree)) {
    const changed = changedBy(node);
    if (changed !== undefined && constants.has(changed))
      found.push(finding(node, `${changed} is state of its module: it is changed here`));
    if (isPropertyDeclaration(node) && isMutableStatic(node))
      found.push(finding(node, "a static property that is not readonly"));
  }
  return found;
}

const declarationsOf = ({ declarationList }: VariableStatement) => declarationList.declarations;

function isMutableStatic({ modifiers = [] }: { readonly modifiers?: readonly Node[] | undefined }): boolean {
  const kinds = modifiers.map(({ kind }) => kind);
  return kinds.includes(SyntaxKind.StaticKeyword) && !kinds.includes(SyntaxKind.ReadonlyKeyword);
}

/** Tells by its class whether a value changes. */
function kindOf(declaration: VariableDeclaration, { path, tree }: Source) {
  if (/^(let|var)\b/.test(declaration.parent.getText(tree))) return "a variable";
  const value = declaration.initializer && withoutTypes(declaration.initializer);
  if (value === undefined || !isNewExpression(value)) return "constant";
  const made = value.expression.getText(tree);
  if (made === "Map" || made === "Set") {
    const isReadonly = declaration.type?.getText(tree).startsWith(`Readonly${made}<`);
    return isReadonly ? "constant" : "state";
  }
  if (typedArray.test(made)) {
    const content = value.arguments?.[0]?.getText(tree) ?? "0";
    if (content === "0" || content.startsWith("[")) return "constant";
    return scratchFiles.test(path) ? "scratch" : "state";
  }
  return constantClasses.has(made) || made.startsWith("Intl.") ? "constant" : "state";
}

function withoutTypes(node: Node): Node {
  const isWrapped = isAsExpression(node) || isSatisfiesExpression(node) || isParenthesizedExpression(node);
  return isWrapped || isNonNullExpression(node) ? withoutTypes(node.expression) : node;
}

/** Names that parts of the file declare for themselves: they can mean another thing. */
function localNames({ tree }: Source): string[] {
  return [...nodesOf(tree)].flatMap((node) => {
    const isLocal = isVariableDeclaration(node) && node.parent.parent.parent !== tree;
    if (!isLocal && !isParameterDeclaration(node)) return [];
    return node.name.getText(tree).match(/\w+/g) ?? [];
  });
}

/**
 * The name at the start of what an assignment, a `delete` or a call of a mutating method changes. The
 * position of a regular expression is no state: it is set before each use.
 */
function changedBy(node: Node): string | undefined {
  if (isBinaryExpression(node) && isAssignmentOperator(node.operatorToken.kind))
    return node.left.getText().endsWith(".lastIndex") ? undefined : partOf(node.left);
  if (isDeleteExpression(node)) return partOf(node.expression);
  if (isPostfixUnaryExpression(node)) return partOf(node.operand);
  const changes = [SyntaxKind.PlusPlusToken, SyntaxKind.MinusMinusToken] as readonly SyntaxKind[];
  if (isPrefixUnaryExpression(node) && changes.includes(node.operator)) return partOf(node.operand);
  if (!isCallExpression(node) || !isPropertyAccessExpression(node.expression)) return undefined;
  const { expression: object, name } = node.expression;
  return mutators.has(name.text) ? rootOf(object) : undefined;
}

const partOf = (node: Node): string | undefined => (isIdentifier(node) ? undefined : rootOf(node));

function rootOf(node: Node): string | undefined {
  if (isIdentifier(node)) return node.text;
  const isPart = isPropertyAccessExpression(node) || isElementAccessExpression(node);
  return isPart || isNonNullExpression(node) ? rootOf(node.expression) : undefined;
}
