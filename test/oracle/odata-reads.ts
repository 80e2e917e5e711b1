// Reads over OData of assets and linked records: sets, counts, entities, expansions, navigations from one to
// another, points, searches.
import type { Client, Reply } from "./client.ts";
import { aclOf, holds, type Kind, may, type Thing } from "./plant.ts";
import type { RandomCaller, RandomRequest } from "./random-request.ts";
import { anyId, pointsOf, words } from "./rest-reads.ts";

const root = "/odata/v1/projects/demo";
const kinds: readonly Kind[] = ["assets", "timeseries", "events", "files", "sequences"];
/** The set of each kind, and the property that holds a thing's name. */
const sets = {
  assets: { set: "Assets", name: "Name" },
  timeseries: { set: "Timeseries", name: "Name" },
  events: { set: "Events", name: "Description" },
  files: { set: "Files", name: "Name" },
  sequences: { set: "Sequences", name: "Name" },
} as const;

type Row = Readonly<Record<string, unknown>>;

interface Body {
  readonly value: readonly Row[];
  readonly "@odata.nextLink"?: string;
}

const bodyOf = ({ json }: Reply) => json as unknown as Body;
const idsIn = (rows: readonly Row[]) => rows.map(({ Id }) => Number(Id)).sort((a, b) => a - b);
const idsOf = (things: readonly Thing[]) => things.map(({ id }) => id).sort((a, b) => a - b);
const needs = (kind: Kind) => [aclOf[kind], "READ"] as const;
const given = (kind: Kind) => ({ needs: needs(kind), refusals: "by status" }) as const;
const encoded = (text: string) => encodeURIComponent(text).replaceAll("'", "%27");

const visible = ({ plant, rights }: RandomCaller, kind: Kind) =>
  plant.of(kind).filter((one) => may(plant, rights, "READ", one));

function list(caller: RandomCaller, kind: Kind): RandomRequest {
  const { set, name } = sets[kind];
  const word = caller.random.pick([...words, "0"]);
  const found = visible(caller, kind).filter((one) => one.name.includes(word));
  const filter = encoded(`contains(${name},'${word}')`);
  const pageMax = caller.random.pick([3, 20, 1000]);
  return {
    ask: `GET ${root}/${set}?$filter=${filter}&$select=Id`,
    headers: { prefer: `odata.maxpagesize=${pageMax}` },
    ...given(kind),
    seen: async (reply, client) => idsIn(await allOf(reply, client, pageMax)),
    expected: idsOf(found),
  };
}

async function allOf(reply: Reply, client: Client, pageMax: number): Promise<Row[]> {
  const rows = [...bodyOf(reply).value];
  for (let link = bodyOf(reply)["@odata.nextLink"]; link !== undefined; ) {
    const { pathname, search } = new URL(link);
    const next = bodyOf(
      await client(`GET ${pathname}${search}`, undefined, { prefer: `maxpagesize=${pageMax}` }),
    );
    rows.push(...next.value);
    link = next["@odata.nextLink"];
  }
  return rows;
}

function byExternalId(caller: RandomCaller, kind: Kind): RandomRequest {
  const { id, externalId } = caller.random.pick(caller.plant.of(kind));
  return {
    ask: `GET ${root}/${sets[kind].set}?$filter=${encoded(`ExternalId eq '${externalId}'`)}&$select=Id`,
    ...given(kind),
    seen: (reply) => idsIn(bodyOf(reply).value),
    expected: isSeen(caller, kind, id) ? [id] : [],
  };
}

function count(caller: RandomCaller, kind: Kind): RandomRequest {
  const { set, name } = sets[kind];
  const word = caller.random.pick(["", ...words]);
  const filter = word === "" ? "" : `?$filter=${encoded(`startswith(${name},'${word}')`)}`;
  return {
    ask: `GET ${root}/${set}/$count${filter}`,
    ...given(kind),
    seen: ({ text }) => Number(text),
    expected: visible(caller, kind).filter((one) => one.name.startsWith(word)).length,
  };
}

const isSeen = (caller: RandomCaller, kind: Kind, id: number) =>
  visible(caller, kind).some((one) => one.id === id);

const missing = { status: 404 };

function entity(caller: RandomCaller, kind: Kind): RandomRequest {
  const id = anyId(caller, kind);
  return {
    ask: `GET ${root}/${sets[kind].set}('${id}')?$select=Id`,
    ...given(kind),
    seen: (reply) => Number((reply.json as unknown as Row)["Id"]),
    expected: isSeen(caller, kind, id) ? id : missing,
  };
}

/** Series under each asset: those that the caller may see as well. */
function expanded(caller: RandomCaller): RandomRequest {
  if (!holds(caller.rights, ...needs("timeseries"))) return count(caller, "assets");
  const word = caller.random.pick(words);
  const assets = visible(caller, "assets").filter((one) => one.name.startsWith(word));
  const series = visible(caller, "timeseries");
  const filter = encoded(`startswith(Name,'${word}')`);
  return {
    ask: `GET ${root}/Assets?$filter=${filter}&$select=Id&$expand=Timeseries($select=Id),Parent($select=Id)`,
    ...given("assets"),
    seen: (reply) =>
      Object.fromEntries(
        bodyOf(reply).value.map((one) => {
          const parent = one["Parent"] as Row | null;
          return [one["Id"], [parent && Number(parent["Id"]), idsIn(one["Timeseries"] as Row[])]];
        }),
      ),
    expected: Object.fromEntries(
      assets.map(({ id, parentId }) => {
        const parent = parentId !== undefined && isSeen(caller, "assets", parentId) ? parentId : null;
        return [id, [parent, idsOf(series.filter((one) => one.assetIds.includes(id)))]];
      }),
    ),
  };
}

function navigation(caller: RandomCaller): RandomRequest {
  const kind = caller.random.pick(["timeseries", "events", "files", "sequences"] as const);
  if (!holds(caller.rights, ...needs(kind))) return count(caller, "assets");
  const id = anyId(caller, "assets");
  const found = visible(caller, kind).filter((one) => one.assetIds.includes(id));
  const isThere = isSeen(caller, "assets", id);
  return {
    ask: `GET ${root}/Assets('${id}')/${sets[kind].set}?$select=Id`,
    ...given("assets"),
    seen: (reply) => idsIn(bodyOf(reply).value),
    expected: isThere ? idsOf(found) : missing,
  };
}

function below(caller: RandomCaller): RandomRequest {
  const id = anyId(caller, "assets");
  const isChildren = caller.random.chance(0.5);
  const isMeant = (one: Thing) => (isChildren ? one.parentId === id : caller.plant.isUnder(one, [id]));
  return {
    ask: `GET ${root}/Assets('${id}')/${isChildren ? "Children" : "Subtree"}?$select=Id`,
    ...given("assets"),
    seen: (reply) => idsIn(bodyOf(reply).value),
    expected: isSeen(caller, "assets", id) ? idsOf(visible(caller, "assets").filter(isMeant)) : missing,
  };
}

const pointsIn = (reply: Reply) =>
  bodyOf(reply).value.map(({ TimeStamp, Value }) => ({
    timestamp: Date.parse(String(TimeStamp)),
    value: Value,
  }));

function points(caller: RandomCaller): RandomRequest {
  const id = anyId(caller, "timeseries");
  const isThere = isSeen(caller, "timeseries", id);
  const byFilter = caller.random.chance(0.5);
  const path = byFilter
    ? `DataPoints?$filter=${encoded(`TimeseriesId eq '${id}'`)}&$select=TimeStamp,Value`
    : `Timeseries('${id}')/DataPoints`;
  const otherwise = byFilter ? [] : missing;
  return {
    ask: `GET ${root}/${path}`,
    ...given("timeseries"),
    seen: pointsIn,
    expected: isThere ? pointsOf(id) : otherwise,
  };
}

function latest(caller: RandomCaller): RandomRequest {
  const ids = [anyId(caller, "timeseries"), anyId(caller, "timeseries")];
  const list = ids.map((id) => `'${id}'`).join();
  return {
    ask: `GET ${root}/Latest?$filter=${encoded(`TimeseriesId in (${list})`)}`,
    ...given("timeseries"),
    seen: (reply) => bodyOf(reply).value.map(({ Value }) => Value),
    expected: [...new Set(ids)].filter((id) => isSeen(caller, "timeseries", id)),
  };
}

function search(caller: RandomCaller): RandomRequest {
  const kind = caller.random.pick(["assets", "timeseries", "events"] as const);
  const word = caller.random.pick([...words, "00"]);
  const found = visible(caller, kind).filter(({ name }) =>
    name.split(" ").some((one) => one.startsWith(word)),
  );
  return {
    ask: `GET ${root}/${sets[kind].set}Search(Search='${word}')?$select=Id`,
    ...given(kind),
    seen: (reply) => idsIn(bodyOf(reply).value),
    expected: idsOf(found),
  };
}

const perKind = [list, count, entity, entity, byExternalId];
const others = [expanded, navigation, below, points, points, latest, search];

/** One random request for records linked to assets. */
export const odataRead = (caller: RandomCaller): RandomRequest =>
  caller.random.chance(0.5)
    ? caller.random.pick(perKind)(caller, caller.random.pick(kinds))
    : caller.random.pick(others)(caller);
