// Writes over REST: records outside the caller's rights are refused like missing ones; nothing changes.

import { type DetailsOf, type FailureCode, fail } from "../../src/errors.ts";
import { aclOf, holds, isMember, isUnbounded, type Kind, may, mayKnow, nounOf, type Thing } from "./plant.ts";
import { type RandomCaller, type RandomRequest, refused } from "./random-request.ts";
import { isSuggested } from "./rest-elsewhere.ts";
import { anyId, below, pointTimes, unknown, words } from "./rest-reads.ts";
import { retentionWrites } from "./retention.ts";
import { givePoints } from "./setting.ts";

const kinds: readonly Kind[] = ["assets", "timeseries", "events", "files", "sequences"];
const needs = (kind: Kind) => [aclOf[kind], "WRITE"] as const;
const nothing = () => "done";

function writable({ plant, rights }: RandomCaller, kind: Kind, id: number): Thing | undefined {
  const thing = plant.things.get(id);
  return thing?.kind === kind && may(plant, rights, "WRITE", thing) ? thing : undefined;
}

const outside = (kind: Kind) => refused("outside-scope", { acl: aclOf[kind], action: "WRITE" });

/** The member with the name of a thing; of events it is the description. */
const nameMember = { events: "description", files: "fileName" } as const;
const memberOf = (kind: Kind) => nameMember[kind as "events"] ?? "name";

function rename(caller: RandomCaller): RandomRequest {
  const { plant, random } = caller;
  const kind = random.pick(kinds);
  const id = anyId(caller, kind);
  const thing = writable(caller, kind, id);
  const name = plant.freshName(random.pick(words));
  return {
    ask: `POST ${below("0.6")}/${kind}/${id}/update`,
    body: { [memberOf(kind)]: { set: name } },
    needs: needs(kind),
    seen: (reply) => reply.json.data.items.map((item) => item[memberOf(kind)]),
    expected: thing ? [name] : unknown(kind, [id], 404),
    changed: () => {
      thing!.name = name;
    },
  };
}

function remove(caller: RandomCaller): RandomRequest {
  const { plant, random } = caller;
  const kind = random.pick(kinds.filter((one) => one !== "assets" || random.chance(0.3)));
  const ids = [...new Set([anyId(caller, kind), anyId(caller, kind)])];
  const [kept, gone] = [false, true].map((is) =>
    ids.filter((id) => Boolean(writable(caller, kind, id)) === is),
  );
  const isPartial = kind === "files";
  const status = kind === "timeseries" ? 404 : undefined;
  return {
    ask: `POST ${below("0.5")}/${kind}/delete`,
    body: { items: ids },
    needs: needs(kind),
    seen: (reply) => (isPartial ? reply.json.data : "done"),
    expected: isPartial
      ? { deleted: gone, failed: kept }
      : kept!.length > 0
        ? unknown(kind, kept!, status)
        : "done",
    changed: () => plant.remove(gone!),
  };
}

/** The link is written with the rights on the series or file; its asset has to be in their scope. */
function accept(caller: RandomCaller): RandomRequest {
  const { plant, rights, random } = caller;
  const suggestion = random.pick(plant.suggestions);
  const { id, of, assetId } = suggestion;
  const thing = plant.things.get(of);
  const refusal = (): number | undefined => {
    if (!thing || !isSuggested(caller, suggestion)) return 400;
    const { kind, assetIds } = thing;
    const isLinked = assetIds.includes(assetId);
    const isSeries = kind === "timeseries";
    if (isSeries && assetIds.length > 0) return isLinked ? undefined : 409;
    if (!holds(rights, aclOf[kind], "WRITE")) return 403;
    if (!may(plant, rights, "WRITE", thing)) return 400;
    return isLinked || may(plant, rights, "WRITE", { ...blank(kind), assetIds: [assetId] }) ? undefined : 403;
  };
  const status = refusal();
  return {
    ask: `POST ${below("0.6")}/suggestions/accept`,
    body: { items: [id] },
    needs: ["suggestionsAcl", "WRITE"],
    refusals: "by status",
    seen: (reply) => reply.json.data.items.map((item) => [item["id"], item["state"]]),
    expected: status === undefined ? [[id, "ACCEPTED"]] : { status },
    changed: () => {
      thing!.assetIds = [...new Set([...thing!.assetIds, assetId])];
      suggestion.state = "ACCEPTED";
    },
  };
}

/** Values that no caller may read are written to the series that may not be written. */
function insert(caller: RandomCaller): RandomRequest {
  const ids = [...new Set([anyId(caller, "timeseries"), anyId(caller, "timeseries")])];
  const hidden = ids.filter((id) => !writable(caller, "timeseries", id));
  return {
    ask: `POST ${below("0.5")}/timeseries/data`,
    body: {
      items: ids.map((id) => ({
        id,
        datapoints: [{ timestamp: pointTimes[1], value: hidden.length > 0 ? -1 : id }],
      })),
    },
    needs: needs("timeseries"),
    seen: nothing,
    expected: hidden.length > 0 ? refused("series-unknown", { keys: hidden }) : "done",
  };
}

function erase(caller: RandomCaller): RandomRequest {
  const id = anyId(caller, "timeseries");
  const isWritable = writable(caller, "timeseries", id);
  const [begin, end] = isWritable ? [5_000, 6_000] : [0, 9_000];
  const range = `timestampInclusiveBegin=${begin}&timestampExclusiveEnd=${end}`;
  return {
    ask: `DELETE ${below("0.5")}/timeseries/${id}/data/deleterange?${range}`,
    needs: needs("timeseries"),
    seen: nothing,
    expected: isWritable ? "done" : refused("series-unknown", { keys: [id] }),
  };
}

const isOfOne = (kind: Kind) => kind === "timeseries" || kind === "sequences";

/** The reason why the caller may not create these links, if any. */
function refusedLinks(
  caller: RandomCaller,
  kind: Kind,
  { links, field }: { links: readonly number[]; field: string },
) {
  const { plant, rights } = caller;
  const hidden = links.find((id) => !mayKnow(plant, rights, { kind, action: "WRITE" }, id));
  const expected = isOfOne(kind) ? "the id of an existing asset" : "ids of existing assets";
  if (hidden !== undefined) return refused("field-invalid", { field, expected, got: `${hidden}` });
  const isOutside = (id: number) => !may(plant, rights, "WRITE", { ...blank(kind), assetIds: [id] });
  return links.some(isOutside) ? outside(kind) : undefined;
}

const blank = (kind: Kind): Thing => ({
  ...{ kind, id: 0, name: "", externalId: "", labels: [] },
  ...{ assetIds: [], categories: [] },
});

const linkBody = (kind: Kind, links: readonly number[]) =>
  isOfOne(kind) ? { ...(links.length > 0 && { assetId: links[0] }) } : { assetIds: links };

const someLinks = (caller: RandomCaller, kind: Kind) =>
  [...new Set([anyId(caller, "assets"), anyId(caller, "assets")])].slice(
    0,
    caller.random.below(isOfOne(kind) ? 2 : 3),
  );

function create(caller: RandomCaller): RandomRequest {
  const { plant, rights, random } = caller;
  const kind = random.pick(["timeseries", "events", "files", "sequences"] as const);
  const taken = kind === "timeseries" && random.chance(0.15) ? random.pick(plant.of(kind)).name : undefined;
  const name = taken ?? plant.freshName(random.pick(words));
  const holder = random.chance(0.15) ? random.pick(plant.of(kind)) : undefined;
  const externalId = holder?.externalId ?? `x ${name}`;
  const links = someLinks(caller, kind);
  const field = isOfOne(kind) ? "items[0].assetId" : kind === "events" ? "items[0].assetIds" : "assetIds";
  const isHomeless = links.length === 0 && !isUnbounded(rights, kind);
  const isTaken = holder && refused("external-ids-taken", { what: nounOf[kind], externalIds: [externalId] });
  const item = { [memberOf(kind)]: name, externalId, ...linkBody(kind, links) };
  const columns = { columns: [{ name: "a", externalId: "a", valueType: "DOUBLE" }] };
  return {
    ask: `POST ${below("0.6")}/${kind}${kind === "files" ? "/initupload" : ""}`,
    body: kind === "files" ? item : { items: [kind === "sequences" ? { ...item, ...columns } : item] },
    needs: needs(kind),
    seen: nothing,
    expected: taken
      ? refused("series-exist", { names: [taken] })
      : (refusedLinks(caller, kind, { links, field }) ?? isTaken ?? (isHomeless ? outside(kind) : "done")),
    changed: async ({ json: { data } }, admin) => {
      const id = kind === "files" ? (data as unknown as { fileId: number }).fileId : data.items[0]!.id;
      plant.things.set(id, { ...blank(kind), id, name, externalId, assetIds: links });
      if (kind === "timeseries") await givePoints(admin, [{ id }]);
    },
  };
}

/** Links a thing to other assets. */
function relink(caller: RandomCaller): RandomRequest {
  const { plant, rights, random } = caller;
  const kind = random.pick(["timeseries", "events", "files", "sequences"] as const);
  const id = anyId(caller, kind);
  const thing = writable(caller, kind, id);
  const links = someLinks(caller, kind);
  const added = links.filter((one) => !thing?.assetIds.includes(one));
  const field = isOfOne(kind) ? "assetId" : "assetIds";
  const member = isOfOne(kind) ? (links.length > 0 ? { set: links[0] } : { setNull: true }) : { set: links };
  const isHomeless = thing && !may(plant, rights, "WRITE", { ...thing, assetIds: links });
  return {
    ask: `POST ${below("0.6")}/${kind}/${id}/update`,
    body: { [field]: member },
    needs: needs(kind),
    seen: (reply) => reply.json.data.items.map((item) => item.id),
    expected: thing
      ? (refusedLinks(caller, kind, { links: added, field }) ?? (isHomeless ? outside(kind) : [id]))
      : unknown(kind, [id], 404),
    changed: () => {
      thing!.assetIds = links;
    },
  };
}

/** Puts a series into other security categories: those one is a member of. */
function guard(caller: RandomCaller): RandomRequest {
  const { plant, rights, random } = caller;
  const id = anyId(caller, "timeseries");
  const series = writable(caller, "timeseries", id);
  const set = [...new Set(random.some([...plant.categoryIds, ...plant.categoryIds, 9], 2))];
  const added = set.filter((one) => !series?.categories.includes(one));
  const foreign = added.find((one) => one === 9 || !isMember(rights, one));
  const expected = "ids of security categories that you are a member of";
  const refusal = { field: "securityCategories", expected, got: `${foreign}` };
  return {
    ask: `POST ${below("0.5")}/timeseries/${id}/update`,
    body: { securityCategories: { set } },
    needs: needs("timeseries"),
    seen: (reply) => reply.json.data.items.map((item) => item.id),
    expected: !series
      ? unknown("timeseries", [id], 404)
      : foreign === undefined
        ? [id]
        : refused("field-invalid", refusal),
    changed: () => {
      series!.categories = set;
    },
  };
}

function plantAsset(caller: RandomCaller): RandomRequest {
  const { plant, rights, random } = caller;
  const parentId = random.chance(0.85) ? anyId(caller, "assets") : undefined;
  const isHidden = parentId !== undefined && !writable(caller, "assets", parentId);
  const isRoot = parentId === undefined && !isUnbounded(rights, "assets");
  const name = plant.freshName(random.pick(words));
  return {
    ask: `POST ${below("0.6")}/assets`,
    body: { items: [{ name, externalId: `x ${name}`, ...(parentId !== undefined && { parentId }) }] },
    needs: needs("assets"),
    seen: nothing,
    expected: isHidden ? unknown("assets", [parentId]) : isRoot ? outside("assets") : "done",
    changed: ({ json }) => {
      const { id } = json.data.items[0]!;
      plant.things.set(id, {
        ...blank("assets"),
        id,
        name,
        externalId: `x ${name}`,
        assetIds: [id],
        parentId,
      });
    },
  };
}

/** Moves an asset with its subtree; a limited caller must be able to write to the old and the new parent. */
export function move(caller: RandomCaller): RandomRequest {
  const { plant, rights, random } = caller;
  const id = anyId(caller, "assets");
  const asset = writable(caller, "assets", id);
  const isBelowItself = (one: number) => plant.lineage(one).includes(id);
  const elsewhere = plant.of("assets").filter((one) => !isBelowItself(one.id) && one.id !== asset?.parentId);
  const parentId = random.chance(0.85) && elsewhere.length > 0 ? random.pick(elsewhere).id : undefined;
  const isMoved = asset?.parentId !== parentId;
  const isForeign =
    !isUnbounded(rights, "assets") &&
    (parentId === undefined || !writable(caller, "assets", asset?.parentId ?? 0));
  const isHidden = parentId !== undefined && !writable(caller, "assets", parentId);
  const refusal = isForeign ? outside("assets") : isHidden ? unknown("assets", [parentId]) : undefined;
  return {
    ask: `POST ${below("0.6")}/assets/${id}/update`,
    body: { parentId: parentId === undefined ? { setNull: true } : { set: parentId } },
    needs: needs("assets"),
    seen: (reply) => reply.json.data.items.map((item) => item.id),
    expected: asset ? ((isMoved ? refusal : undefined) ?? [id]) : unknown("assets", [id], 404),
    changed: () => {
      asset!.parentId = parentId;
    },
  };
}

/** A refusal of a document of a series. */
function refusedDocument<Code extends FailureCode>(name: string, code: Code, details: DetailsOf<Code>) {
  const refusal = fail(code, details);
  const { status } = refusal;
  return refused("configuration-refused", { kind: "series", name, refusal, status });
}

/** Compares a document with a series, which stays as it is. */
function configure(caller: RandomCaller): RandomRequest {
  const { plant, rights, random } = caller;
  const series = random.pick(plant.of("timeseries"));
  const { id, name } = series;
  const isRead = may(plant, rights, "READ", series);
  const [assetId] = series.assetIds;
  const document = {
    ...{ name, description: "configured", labels: [...series.labels] },
    ...(isRead && { securityCategories: series.categories, ...(assetId !== undefined && { assetId }) }),
  };
  const expected = !holds(rights, "timeSeriesAcl", "WRITE")
    ? refused("forbidden", { acl: "timeSeriesAcl", action: "WRITE" })
    : !isRead
      ? refusedDocument(name, "series-exist", { names: [name] })
      : writable(caller, "timeseries", id)
        ? [["changed", name]]
        : refusedDocument(name, "series-unknown", { keys: [id], status: 400 });
  return {
    ask: `POST ${below("0.6")}/configuration`,
    body: { series: [document], dryRun: true },
    needs: ["timeSeriesAcl", "READ"],
    seen: (reply) => {
      const { differences } = reply.json.data as unknown as { differences: Record<string, unknown>[] };
      return differences.map(({ change, name }) => [change, name]);
    },
    expected,
  };
}

const writes = [
  configure,
  rename,
  remove,
  insert,
  insert,
  erase,
  accept,
  accept,
  create,
  create,
  relink,
  relink,
  guard,
  guard,
  plantAsset,
  move,
  move,
  ...retentionWrites,
];

/** One change, by chance. */
export const restWrite = (caller: RandomCaller): RandomRequest => caller.random.pick(writes)(caller);
