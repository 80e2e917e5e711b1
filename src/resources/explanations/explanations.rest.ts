// Explanations of rights over REST 0.6 (docs/reference/explanations.md).
import { Type } from "typebox";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { capabilityOf, capabilitySchema } from "../../rest/capabilities.ts";
import { dataResponse, dataSchema } from "../../rest/envelope.ts";
import { id, idList, integer, oneOfWords, type ParameterValues, required } from "../../rest/parameters.ts";
import { type Route, route } from "../../rest/route.ts";
import { type ProtectedRecords, recordActions } from "../common/protected-records.ts";
import { type Explanation, explainAccess, type Grant, type Named } from "./explanations.ts";
import { sentencesOf } from "./sentences.ts";
import type { SubjectName } from "./subjects.ts";

const named = { id: Type.Integer(), name: Type.Optional(Type.String()) };
const namedSchema = Type.Object(named);
const path = (description: string) => Type.Array(namedSchema, { description });

const grantSchema = Type.Object(
  {
    group: namedSchema,
    capability: capabilitySchema,
    covers: Type.Boolean({ description: "Whether its scope contains the record" }),
    chain: path("For subtrees that contain the record: the assets from a root to an asset of the record"),
  },
  { title: "AccessGrant" },
);

const explanationSchema = Type.Object(
  {
    allowed: Type.Boolean(),
    reasons: Type.Array(Type.String(), { description: "The verdict and its reasons in sentences" }),
    groups: Type.Array(namedSchema, { description: "The groups whose capabilities count" }),
    isByDefault: Type.Boolean({
      description: "The account is in no group, so that the default group counts",
    }),
    grants: Type.Array(grantSchema, {
      description: `The first ${limits.explanationItemsMax}, those that cover the record before others`,
    }),
    paths: Type.Array(path("From the root to the asset"), {
      description: `The first ${limits.explanationItemsMax} assets that the record is linked to, or is`,
    }),
    securityCategories: Type.Array(
      Type.Object({ ...named, isMember: Type.Boolean(), groups: path("The groups that grant it") }),
    ),
  },
  { title: "AccessExplanation" },
);

const whoQuery = {
  userId: integer("The account", { min: 1 }),
  apiKeyId: integer("Instead of the account: one of its keys", { min: 1 }),
  groupIds: idList("Instead of the account: a member of these groups alone"),
};

/** `records` are those of each resource, by the path of its list. */
export const explanationRoutes = (records: Readonly<Record<string, ProtectedRecords>>): readonly Route[] => [
  route({
    versions: ["0.6"],
    capability: ["groupsAcl", "READ"],
    method: "GET",
    path: "/access/explanation",
    summary: "Explain why an account may or may not read or write a record; for administrators",
    query: {
      resource: required(oneOfWords("The type of the record", Object.keys(records))),
      id: id("The record"),
      action: oneOfWords("What the account wants to do; default READ", recordActions),
      ...whoQuery,
    },
    response: () => ({ schema: dataSchema(explanationSchema) }),
    handle: async (ctx, { query: { resource, id, action = "READ", ...who } }) => {
      const query = { subject: subjectIn(who), records: records[resource]!, id, action };
      return dataResponse(explanationJson(await explainAccess(ctx, query)));
    },
  }),
];

function subjectIn(who: ParameterValues<typeof whoQuery>): SubjectName {
  const sent = Object.entries(who).filter(([, value]) => value !== undefined);
  if (sent.length === 0) throw fail("fields-missing", { fields: ["userId"] });
  const [, other] = sent;
  if (!other) return Object.fromEntries(sent) as unknown as SubjectName;
  const expected = `none beside ${sent[0]![0]}`;
  throw fail("field-invalid", { field: other[0], expected, got: String(other[1]) });
}

const explanationJson = (explanation: Explanation) => ({
  allowed: explanation.allowed,
  reasons: sentencesOf(explanation),
  groups: explanation.subject.groups.map(namedJson),
  isByDefault: explanation.subject.isByDefault,
  grants: explanation.grants.map(grantJson),
  paths: explanation.paths.map((path) => path.map(namedJson)),
  securityCategories: explanation.categories.map(({ isMember, groups, ...category }) => ({
    ...namedJson(category),
    isMember,
    groups: groups.map(namedJson),
  })),
});

const grantJson = ({ group, capability, covers, chain }: Grant) => ({
  group: namedJson(group),
  capability: capabilityOf(capability),
  covers,
  chain: chain.map(namedJson),
});

const namedJson = ({ id, name }: Named) => ({ id, name });
