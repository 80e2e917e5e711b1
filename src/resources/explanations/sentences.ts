// Says an explanation in sentences, for people.
import type { Explanation, Grant, Named } from "./explanations.ts";

/** The verdict first, then its reasons. */
export function sentencesOf(explanation: Explanation): string[] {
  const { allowed, subject, action, record } = explanation;
  const { user } = subject.caller;
  const what = `${action.toLowerCase()} the record ${said(record)}`;
  return [
    allowed ? `Yes: ${user} may ${what}.` : `No: ${user} may not ${what}.`,
    ...(subject.hasExpired ? ["The key has expired, so that the server refuses every request (401)."] : []),
    ...groupSentences(explanation),
    ...grantSentences(explanation),
    ...categorySentences(explanation),
    ...(allowed || subject.hasExpired || explanation.grants.length === 0
      ? []
      : ["The server returns the same responses as for a record that does not exist."]),
  ];
}

function groupSentences({ subject, grants, acl, action }: Explanation): string[] {
  const { groups, isByDefault } = subject;
  const { user } = subject.caller;
  if (groups.length === 0)
    return [`${user} is in no group, and the project has no default group: it has no rights (403).`];
  const counting = listOf(groups);
  return [
    ...(isByDefault ? [`${user} is in no group, so that the default group counts: ${counting}.`] : []),
    ...(grants.length === 0 ? [`None of these groups grants ${acl} with ${action} (403): ${counting}.`] : []),
  ];
}

function grantSentences({ grants, paths, acl, action }: Explanation): string[] {
  const covering = grants.filter(({ covers }) => covers);
  const right = (one: Grant) =>
    `The group ${said(one.group)} grants ${acl} with ${action} for ${scopePhrase(one)}`;
  if (covering.length > 0)
    return covering.map(
      (one) => `${right(one)}${one.chain.length > 0 ? `, through ${pathOf(one.chain)}` : ""}.`,
    );
  const where =
    paths.length === 0 ? "no asset" : `${paths.map(pathOf).join(", ")}, which it does not contain`;
  return grants.map((one) => `${right(one)}, but the record belongs to ${where}.`);
}

function scopePhrase({ capability, roots }: Grant): string {
  const { scope } = capability;
  if (scope.kind !== "subtrees") return "all records";
  const more = scope.assetIds.length > roots.length ? ", ..." : "";
  return `the subtree of ${listOf(roots)}${more}`;
}

const categorySentences = ({ categories, subject }: Explanation): string[] =>
  categories.map(({ isMember, groups, ...category }) => {
    const { user } = subject.caller;
    const named = `the security category ${said(category)} of the record`;
    if (!isMember) return `${user} is not a member of ${named}.`;
    return `${user} is a member of ${named}, by the group ${listOf(groups)}.`;
  });

/** `"pump" (12)` */
const said = ({ id, name }: Named): string => (name === undefined ? `${id}` : `"${name}" (${id})`);

const listOf = (all: readonly Named[]): string => all.map(said).join(", ");

/** `"plant" (1) > "pump" (12)` */
const pathOf = (path: readonly Named[]): string => path.map(said).join(" > ");
