// Retention rules: who sees those of which series, subtrees and the project, and who may make and preview
// them. None of them is so short that it removes a point.
import type { Client } from "./client.ts";
import {
  holds,
  isUnbounded,
  may,
  mayKnow,
  type Plant,
  type RetentionRule,
  type RetentionTarget,
  type Rights,
  type Thing,
} from "./plant.ts";
import { type RandomCaller, type RandomRequest, refused } from "./random-request.ts";
import { anyId, below } from "./rest-reads.ts";

const keepDays = 36_500;

export async function fillRetention(admin: Client, plant: Plant): Promise<void> {
  const targets: readonly RetentionTarget[] = [
    ...plant
      .of("timeseries")
      .filter((_, at) => at % 3 === 0)
      .map(({ id }) => ({ seriesId: id })),
    ...plant
      .of("assets")
      .filter((_, at) => at % 3 === 0)
      .map(({ id }) => ({ assetId: id })),
    { wholeProject: true },
  ];
  const items = targets.map((target) => ({ name: "keep", keepDays, ...target }));
  const { json } = await admin(`POST ${below("0.6")}/retentionrules`, { items });
  for (const [at, { id }] of json.data.items.entries()) plant.retention.push({ id, target: targets[at]! });
}

/** A rule goes with its series or asset. */
const rulesOf = ({ retention, things }: Plant): readonly RetentionRule[] =>
  retention.filter(({ target }) => {
    if ("wholeProject" in target) return true;
    return things.has("seriesId" in target ? target.seriesId : target.assetId);
  });

/** A series to come that is linked to this asset. */
const linkedTo = (assetId: number): Thing => ({
  ...{ kind: "timeseries", id: 0, name: "", externalId: "", labels: [] },
  ...{ assetIds: [assetId], categories: [] },
});

const isUnlimited = (rights: Rights, action: "READ" | "WRITE") =>
  action === "WRITE"
    ? isUnbounded(rights, "timeseries")
    : rights.some(
        (one) => one.acl === "timeSeriesAcl" && one.actions.includes("READ") && one.scope.kind === "all",
      );

function isVisible({ plant, rights }: RandomCaller, target: RetentionTarget): boolean {
  if ("wholeProject" in target) return isUnlimited(rights, "READ");
  if ("seriesId" in target) return may(plant, rights, "READ", plant.things.get(target.seriesId)!);
  return may(plant, rights, "READ", linkedTo(target.assetId));
}

const visibleRules = (caller: RandomCaller) =>
  rulesOf(caller.plant).filter(({ target }) => isVisible(caller, target));

const needs = ["timeSeriesAcl", "READ"] as const;
const idsIn: RandomRequest["seen"] = (reply) => reply.json.data.items.map((item) => item["id"]);

function rules(caller: RandomCaller): RandomRequest {
  const assetId = anyId(caller, "assets");
  const [query, isFound] = caller.random.pick<[string, (target: RetentionTarget) => boolean]>([
    ["", () => true],
    [`&assetId=${assetId}`, (target) => "assetId" in target && target.assetId === assetId],
  ]);
  return {
    ask: `GET ${below("0.6")}/retentionrules?limit=1000${query}`,
    needs,
    seen: idsIn,
    expected: visibleRules(caller)
      .filter(({ target }) => isFound(target))
      .map(({ id }) => id),
  };
}

function oneRule(caller: RandomCaller): RandomRequest {
  const { id } = caller.random.pick(caller.plant.retention);
  return {
    ask: `GET ${below("0.6")}/retentionrules/${id}`,
    needs,
    seen: idsIn,
    expected: visibleRules(caller).some((rule) => rule.id === id)
      ? [id]
      : refused("ids-unknown", { field: "retentionRuleId", ids: [id], status: 404 }),
  };
}

function rulesOverOData(caller: RandomCaller): RandomRequest {
  return {
    ask: "GET /odata/v1/projects/demo/RetentionRules?$select=Id",
    needs,
    refusals: "by status",
    seen: (reply) =>
      (JSON.parse(reply.text) as { value: { Id: string }[] }).value.map(({ Id }) => Number(Id)),
    expected: visibleRules(caller).map(({ id }) => id),
  };
}

export const retentionReads = [rules, oneRule, rulesOverOData, preview];

/** The status of a rule with this target: the caller may do it on every series that is under it, or comes. */
function refusedTarget({ plant, rights }: RandomCaller, target: RetentionTarget, action: "READ" | "WRITE") {
  if (!holds(rights, "timeSeriesAcl", action)) return 403;
  const mayAll = (some: readonly Thing[]) => some.every((one) => may(plant, rights, action, one));
  if ("seriesId" in target) {
    const series = plant.things.get(target.seriesId);
    return series?.kind === "timeseries" && mayAll([series]) ? undefined : 400;
  }
  const all = plant.of("timeseries");
  if ("wholeProject" in target) return isUnlimited(rights, action) && mayAll(all) ? undefined : 403;
  const { assetId } = target;
  if (!mayKnow(plant, rights, { kind: "timeseries", action: "WRITE" }, assetId)) return 400;
  return mayAll([linkedTo(assetId), ...all.filter((one) => plant.isUnder(one, [assetId]))]) ? undefined : 403;
}

function someTarget(caller: RandomCaller): RetentionTarget {
  if (caller.random.chance(0.1)) return { wholeProject: true };
  return caller.random.chance(0.5)
    ? { seriesId: anyId(caller, "timeseries") }
    : { assetId: anyId(caller, "assets") };
}

/** It shows how old points are: the caller may read all series too. */
function preview(caller: RandomCaller): RandomRequest {
  const target = someTarget(caller);
  const refusal = refusedTarget(caller, target, "WRITE") ?? refusedTarget(caller, target, "READ");
  return {
    ask: `POST ${below("0.6")}/retentionrules/preview`,
    body: { ...target, keepDays },
    needs: ["projectsAcl", "UPDATE"],
    refusals: "by status",
    seen: () => "counted",
    expected: refusal === undefined ? "counted" : { status: refusal },
  };
}

/** A rule that removes points needs the right to delete all of them. */
function createRule(caller: RandomCaller): RandomRequest {
  const { plant } = caller;
  const target = someTarget(caller);
  const isTaken = rulesOf(plant).some((rule) => JSON.stringify(rule.target) === JSON.stringify(target));
  const status = refusedTarget(caller, target, "WRITE") ?? (isTaken ? 409 : undefined);
  return {
    ask: `POST ${below("0.6")}/retentionrules`,
    body: { items: [{ name: "keep", keepDays, ...target }] },
    needs: ["projectsAcl", "UPDATE"],
    refusals: "by status",
    seen: () => "made",
    expected: status === undefined ? "made" : { status },
    changed: (reply) => {
      const [{ id }] = reply.json.data.items as [{ id: number }];
      plant.retention.push({ id, target });
    },
  };
}

export const retentionWrites = [createRule];
