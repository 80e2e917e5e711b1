// Finds words that the glossary replaces, in comments, messages and docs, and type names with several
// meanings.
import type { Node, NoSubstitutionTemplateLiteral, StringLiteral } from "typescript/unstable/ast";
import {
  isCallExpression,
  isClassDeclaration,
  isInterfaceDeclaration,
  isNoSubstitutionTemplateLiteral,
  isStringLiteral,
  isTypeAliasDeclaration,
} from "typescript/unstable/ast/is";
import { type Finding, isTest, lineOf, nodesOf, type Source } from "./source.ts";

/** Words that an engineer would have to translate, with the terms to use (docs/GLOSSARY.md). */
const replacements: readonly (readonly [word: RegExp, use: string])[] = [
  [/\brooms?\b/i, "resource module; space"],
  [/\bhouses?\b/i, "code rules"],
  [/\bdoors?\b/i, "authenticator"],
  [/\bgates?\b/i, "authenticator; counter; limit"],
  [/\berrands?\b/i, "pending login"],
  [/\b(lends?|lent|loans?)\b/i, "temporary key"],
  [/\b(un)?seal(s|ed|ing)?\b/i, "checksum, checksummed"],
  [/\b(un)?press(es|ed|ing)?\b/i, "compress, decompress"],
  [/\bsift(s|ed|ing|ers?)?\b/i, "filter in memory"],
  [/\btwins?\b/i, "copy without hidden data"],
  [/\banew\b/i, "again; restart"],
  [/\b(whoever|somebody|nobody)\b/i, "the caller; no caller"],
  [/\bhangs?( \w+)? on\b/i, "is linked to"],
  [/\b(lies|lie (in|on|at|below|beyond|behind))\b/i, "is in"],
  [/\bstands? (in|on|at|before|behind|beside|there|elsewhere|between)\b/i, "is in; needs"],
  [/\bbehind\b(?! (a|the|another)( \w+)? (proxy|load balancer|firewall))/i, "after"],
  [/\btexts\b/i, "strings"],
  [/\b(asks|asked|asking)\b/i, "requests, requested"],
  [/\b(answers?|answered)\b/i, "returns; response, result"],
  [/\bquestions?\b/i, "query, request"],
  [/\bmoments?\b/i, "time, timestamp"],
  [/\bpieces?\b/i, "chunk, page, part"],
  [/\bheld\b/i, "stored, cached, existing"],
  [/\b(goes|go|went|gone) on\b/i, "continues"],
  [/\b(in|takes?|took) the place of\b/i, "instead of; replaces"],
  [/\bwords of the wire\b|\bwire's words?\b/i, "wire format"],
  [/\bof ours\b/i, "our error; invariant"],
];

/** Words in comments, messages of the product and titles of tests that have a plain term. */
export function termFindings(source: Source): Finding[] {
  const { path, lines } = source;
  const inComments = lines.flatMap((line, index) => {
    const comment = /^\s*(?:\/\/|\/\*\*?|\*)(.*)$/.exec(line)?.[1] ?? /\s\/\/ (.*)$/.exec(line)?.[1];
    return comment === undefined ? [] : wordsIn(path, index, comment);
  });
  const isOfProduct = path.startsWith("src/") && !isTest(path);
  const messages = [...nodesOf(source.tree)].filter(isOfProduct ? isMessage : isTitle);
  return [...inComments, ...messages.flatMap((node) => wordsIn(path, lineOf(source, node) - 1, node.text))];
}

/** A string of several words: descriptions and refusals, not names of fields. */
const isMessage = (node: Node): node is StringLiteral | NoSubstitutionTemplateLiteral =>
  (isStringLiteral(node) || isNoSubstitutionTemplateLiteral(node)) && /[a-z] [a-z]/.test(node.text);

/** The title of a test; other strings of tests are data. */
const isTitle = (node: Node): node is StringLiteral =>
  isStringLiteral(node) &&
  isCallExpression(node.parent) &&
  node.parent.arguments[0] === node &&
  /^(test|it|describe|scenario)$/.test(node.parent.expression.getText());

/** Words in a page of docs that have a plain term; code is skipped. */
export function docsTermFindings(path: string, text: string): Finding[] {
  let isCode = false;
  return text.split("\n").flatMap((line, index) => {
    if (line.trimStart().startsWith("```")) isCode = !isCode;
    return isCode ? [] : wordsIn(path, index, line);
  });
}

/** Code in backticks and hyphenated names, such as codes of errors, are exempt. */
function wordsIn(path: string, index: number, text: string): Finding[] {
  const prose = text.replaceAll(/`[^`]*`|\w+-[\w-]+/g, "");
  return replacements.flatMap(([word, use]) => {
    const found = word.exec(prose)?.[0];
    return found === undefined ? [] : [{ path, line: index + 1, problem: `"${found}"; write ${use}` }];
  });
}

/** Exported types and classes of src that share a name: a reader must be able to search for it. */
export function typeNameFindings(sources: readonly Source[]): Finding[] {
  const declared = Map.groupBy(sources.flatMap(exportedTypes), ({ name }) => name);
  const repeated = [...declared].filter(([, places]) => new Set(places.map(({ path }) => path)).size > 1);
  return repeated.flatMap(([name, [first, ...others]]) =>
    others.map(({ path, line }) => ({
      path,
      line,
      problem: `${first!.path} exports a type ${name} too; give each a name of its own`,
    })),
  );
}

function exportedTypes(source: Source): { name: string; path: string; line: number }[] {
  const { path, tree } = source;
  if (!path.startsWith("src/") || isTest(path)) return [];
  return tree.statements.flatMap((statement) => {
    const isType =
      isInterfaceDeclaration(statement) || isTypeAliasDeclaration(statement) || isClassDeclaration(statement);
    if (!isType || !statement.name || !/^export\b/.test(statement.getText(tree))) return [];
    return [{ name: statement.name.text, path, line: lineOf(source, statement) }];
  });
}
