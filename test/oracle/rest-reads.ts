// Reads over REST: lists, searches, by ids, datapoints, with the expected result for each caller.
import { compareText } from "../../src/lib/text.ts";
import type { Reply } from "./client.ts";
import { aclOf, type Kind, may, mayKnow, nounOf, type Thing } from "./plant.ts";
import { type RandomCaller, type RandomRequest, refused } from "./random-request.ts";

export const below = (version: string) => `/api/${version}/projects/demo`;
export const words = ["pump", "valve", "motor", "tank"];
/** When every series has its points, each with the series' own id as the value. */
export const pointTimes = [1_000, 2_000, 3_000];

const idsIn = (reply: Reply): number[] => reply.json.data.items.map(({ id }) => id);
const sortedIdsIn = (reply: Reply): number[] => idsIn(reply).sort((a, b) => a - b);
const sortedIdsOf = (things: readonly Thing[]) => things.map(({ id }) => id).sort((a, b) => a - b);

const visible = ({ plant, rights }: RandomCaller, kind: Kind) =>
  plant.of(kind).filter((one) => may(plant, rights, "READ", one));

/** An id of this kind, mostly one that may be read, or one of nothing that there is. */
export function anyId(caller: RandomCaller, kind: Kind): number {
  const { plant, random } = caller;
  const seen = random.chance(0.6) ? visible(caller, kind) : [];
  if (seen.length > 0) return random.pick(seen).id;
  if (random.chance(0.1)) return random.pick([...plant.gone, 3, 2 ** 52]);
  return random.pick(plant.of(random.chance(0.05) ? "assets" : kind)).id;
}

const needs = (kind: Kind) => [aclOf[kind], "READ"] as const;

const version = ({ random }: RandomCaller, kind: Kind) =>
  random.pick(kind === "sequences" ? ["0.5", "0.6"] : ["0.4", "0.5", "0.6"]);

/** The order of each list. */
function inOrder(caller: RandomCaller, kind: Kind, things: readonly Thing[]): Thing[] {
  const depth = ({ id }: Thing) => caller.plant.lineage(id).length;
  const byId = (a: Thing, b: Thing) => a.id - b.id;
  if (kind === "assets") return things.toSorted((a, b) => depth(a) - depth(b) || byId(a, b));
  return things.toSorted(kind === "timeseries" ? (a, b) => compareText(a.name, b.name) : byId);
}

/** A page, and whether there are more. */
function list(caller: RandomCaller, kind: Kind): RandomRequest {
  const limit = caller.random.pick([1, 3, 10, 1_000]);
  const all = inOrder(caller, kind, visible(caller, kind));
  return {
    ask: `GET ${below(version(caller, kind))}/${kind}?limit=${limit}`,
    needs: needs(kind),
    seen: (reply) => ({ ids: idsIn(reply), more: reply.json.data.nextCursor !== undefined }),
    expected: { ids: all.slice(0, limit).map(({ id }) => id), more: all.length > limit },
  };
}

/** All pages, one after the other. */
function listAll(caller: RandomCaller, kind: Kind): RandomRequest {
  const path = `${below("0.5")}/${kind}?limit=${caller.random.pick([7, 20, 60])}`;
  return {
    ask: `GET ${path}`,
    needs: needs(kind),
    async seen(reply, client) {
      const ids = idsIn(reply);
      for (let cursor = reply.json.data.nextCursor; cursor !== undefined; ) {
        const next = await client(`GET ${path}&cursor=${cursor}`);
        ids.push(...idsIn(next));
        cursor = next.json.data.nextCursor;
      }
      return ids;
    },
    expected: inOrder(caller, kind, visible(caller, kind)).map(({ id }) => id),
  };
}

/** The whole list by cursors for parallel reads. */
function divided(caller: RandomCaller): RandomRequest {
  const kind = caller.random.pick(["assets", "events"] as const);
  const divisions = caller.random.pick([1, 2, 5]);
  return {
    ask: `GET ${below("0.6")}/${kind}/cursors?divisions=${divisions}`,
    needs: needs(kind),
    async seen(reply, client) {
      const pages = reply.json.data.items.map((cursor) =>
        client(`GET ${below("0.6")}/${kind}?limit=1000&cursor=${cursor}`),
      );
      return (await Promise.all(pages)).flatMap(idsIn);
    },
    expected: inOrder(caller, kind, visible(caller, kind)).map(({ id }) => id),
  };
}

const subtreeParameter = { assets: "path", timeseries: "path", events: "assetSubtrees", files: "path" };

/** Records linked to the subtrees of some assets: hidden assets count as missing. */
function underAssets(caller: RandomCaller, kind: Kind): RandomRequest {
  const { plant, rights, random } = caller;
  const isSearch = kind === "sequences" || random.chance(0.5);
  const roots = [anyId(caller, "assets"), anyId(caller, "assets")].slice(0, random.below(2) + 1);
  const asked = isSearch ? roots : kind === "assets" ? roots.slice(-1) : roots;
  const known = asked.filter((id) => mayKnow(plant, rights, { kind, action: "READ" }, id));
  const parameter = isSearch ? "assetSubtrees" : subtreeParameter[kind as keyof typeof subtreeParameter];
  return {
    ask: `GET ${below("0.5")}/${kind}${isSearch ? "/search" : ""}?limit=1000&${parameter}=[${asked}]`,
    needs: needs(kind),
    seen: sortedIdsIn,
    expected: sortedIdsOf(visible(caller, kind).filter((one) => plant.isUnder(one, known))),
  };
}

function onAsset(caller: RandomCaller): RandomRequest {
  const kind = caller.random.pick(["timeseries", "events", "files", "sequences"] as const);
  const assetId = anyId(caller, "assets");
  return {
    ask: `GET ${below("0.6")}/${kind}?limit=1000&assetId=${assetId}`,
    needs: needs(kind),
    seen: sortedIdsIn,
    expected: sortedIdsOf(visible(caller, kind).filter((one) => one.assetIds.includes(assetId))),
  };
}

function search(caller: RandomCaller, kind: Kind): RandomRequest {
  const word = caller.random.pick([...words, "0", "00"]);
  const field = { events: "description", files: "name" }[kind as "events"] ?? "query";
  const found = visible(caller, kind).filter(({ name }) =>
    name.split(" ").some((one) => one.startsWith(word)),
  );
  return {
    ask: `GET ${below("0.5")}/${kind}/search?limit=1000&${field}=${word}`,
    needs: needs(kind),
    seen: sortedIdsIn,
    expected: sortedIdsOf(found),
  };
}

/** Searches a thing by its name; only permitted things are found. */
function byName(caller: RandomCaller): RandomRequest {
  const kind = caller.random.pick(["assets", "timeseries", "files", "sequences"] as const);
  const { name } = caller.random.pick(caller.plant.of(kind));
  const path = `${below("0.5")}/${kind}`;
  return {
    ask: `GET ${path}?${kind === "timeseries" ? "q" : "name"}=${encodeURIComponent(name)}`,
    needs: needs(kind),
    seen: idsIn,
    expected: visible(caller, kind)
      .filter((one) => one.name === name)
      .map(({ id }) => id),
  };
}

/** By its external id, in the list and by `byids`. */
function byExternalId(caller: RandomCaller, kind: Kind): RandomRequest {
  const { plant, rights, random } = caller;
  const thing = random.pick(plant.of(kind));
  const { id, externalId } = thing;
  const found = may(plant, rights, "READ", thing) ? [id] : [];
  const path = `${below(version(caller, kind))}/${kind}`;
  const given = { needs: needs(kind), seen: idsIn };
  if (random.chance(0.5))
    return { ...given, ask: `GET ${path}?externalId=${encodeURIComponent(externalId)}`, expected: found };
  const details = { what: nounOf[kind], externalIds: [externalId] };
  return {
    ...given,
    ask: `POST ${path}/byids`,
    body: { items: [{ externalId }] },
    expected: found.length > 0 ? found : refused("external-ids-unknown", details),
  };
}

function labelled(caller: RandomCaller): RandomRequest {
  const kind = caller.random.pick(["assets", "timeseries", "events", "files"] as const);
  const label = caller.random.pick(words);
  const search = caller.random.chance(0.5) ? "/search" : "";
  return {
    ask: `GET ${below(version(caller, kind))}/${kind}${search}?limit=1000&labels=${label}`,
    needs: needs(kind),
    seen: sortedIdsIn,
    expected: sortedIdsOf(visible(caller, kind).filter(({ labels }) => labels.includes(label))),
  };
}

/** How each resource says that it does not know an id. */
export const unknown = (kind: Kind, ids: readonly number[], status?: 400 | 404) =>
  kind === "timeseries"
    ? refused("series-unknown", { keys: ids, status: status ?? 400 })
    : refused("ids-unknown", { field: "", ids, ...(status && { status }) });

const isSeen = (caller: RandomCaller, kind: Kind, id: number) =>
  visible(caller, kind).some((one) => one.id === id);

function byId(caller: RandomCaller, kind: Kind): RandomRequest {
  const id = anyId(caller, kind);
  const expected = isSeen(caller, kind, id) ? [id] : unknown(kind, [id], 404);
  return { ask: `GET ${below("0.5")}/${kind}/${id}`, needs: needs(kind), seen: idsIn, expected };
}

function byIds(caller: RandomCaller, kind: Kind): RandomRequest {
  const ids = [...new Set([anyId(caller, kind), anyId(caller, kind), anyId(caller, kind)])];
  const hidden = ids.filter((id) => !isSeen(caller, kind, id));
  return {
    ask: `POST ${below(version(caller, kind))}/${kind}/byids`,
    body: { items: ids },
    needs: needs(kind),
    seen: idsIn,
    expected: hidden.length > 0 ? unknown(kind, hidden) : ids,
  };
}

function subtree(caller: RandomCaller): RandomRequest {
  const id = anyId(caller, "assets");
  const all = visible(caller, "assets").filter((one) => caller.plant.isUnder(one, [id]));
  return {
    ask: `GET ${below("0.5")}/assets/${id}/subtree?limit=1000`,
    needs: needs("assets"),
    seen: sortedIdsIn,
    expected: isSeen(caller, "assets", id) ? sortedIdsOf(all) : unknown("assets", [id], 404),
  };
}

/** A level of the tree: the children of an asset, or the visible assets whose parent is not visible. */
function level(caller: RandomCaller): RandomRequest {
  const { plant, random } = caller;
  const seen = visible(caller, "assets");
  const parentId = random.chance(0.3) ? undefined : anyId(caller, "assets");
  const parentOf = ({ id }: Thing) => plant.lineage(id)[1];
  const isSeenId = (id: number | undefined) => seen.some((one) => one.id === id);
  const items = seen.filter((one) =>
    parentId === undefined ? !isSeenId(parentOf(one)) : parentOf(one) === parentId,
  );
  const order = items.toSorted((a, b) => compareText(a.name, b.name) || a.id - b.id);
  const parent = parentId === undefined ? "" : `&parentId=${parentId}`;
  return {
    ask: `GET ${below("0.6")}/assets/children?limit=1000${parent}`,
    needs: needs("assets"),
    seen: (reply) => reply.json.data.items.map(({ id, hasChildren }) => [id, hasChildren]),
    expected:
      parentId === undefined || isSeenId(parentId)
        ? order.map(({ id }) => [id, seen.some((one) => parentOf(one) === id)])
        : unknown("assets", [parentId], 404),
  };
}

/** The number of visible records of each kind in the subtree of an asset. */
function contents(caller: RandomCaller): RandomRequest {
  const { plant, rights } = caller;
  const id = anyId(caller, "assets");
  const countOf = (kind: Kind) => visible(caller, kind).filter((one) => plant.isUnder(one, [id])).length;
  const readable = kinds.filter((kind) =>
    rights.some(({ acl, actions }) => acl === aclOf[kind] && actions.includes("READ")),
  );
  return {
    ask: `GET ${below("0.6")}/assets/${id}/contents`,
    needs: needs("assets"),
    seen: (reply) => reply.json.data,
    expected: isSeen(caller, "assets", id)
      ? {
          ...Object.fromEntries(readable.map((kind) => [kind, countOf(kind)])),
          assets: countOf("assets") - 1,
        }
      : unknown("assets", [id], 404),
  };
}

function download(caller: RandomCaller): RandomRequest {
  const id = anyId(caller, "files");
  const name = caller.plant.things.get(id)?.name ?? "";
  const expected = refused("file-not-uploaded", { name });
  return {
    ask: `GET ${below(caller.random.pick(["0.5", "0.6"]))}/files/${id}/downloadlink`,
    needs: needs("files"),
    seen: () => "a link",
    expected: isSeen(caller, "files", id) ? expected : unknown("files", [id], 404),
  };
}

function rows(caller: RandomCaller): RandomRequest {
  const id = anyId(caller, "sequences");
  return {
    ask: `POST ${below("0.6")}/sequences/${id}/getdata`,
    body: { items: [{}] },
    needs: needs("sequences"),
    seen: (reply) => reply.json.data.items.flatMap(({ rows }) => rows),
    expected: isSeen(caller, "sequences", id) ? [] : unknown("sequences", [id], 404),
  };
}

/** Some series by name or by id, those that may not be read among them. */
function someSeries(caller: RandomCaller, most: number) {
  const ids = Array.from({ length: caller.random.below(most) + 1 }, () => anyId(caller, "timeseries"));
  return ids.map((id) => {
    const series = caller.plant.things.get(id);
    const isSeries = series?.kind === "timeseries";
    const name = isSeries ? series.name : `no series ${id}`;
    return { id, name, isRead: isSeries && may(caller.plant, caller.rights, "READ", series) };
  });
}

/** The expected response of a series. */
export const pointsOf = (id: number) => pointTimes.map((timestamp) => ({ timestamp, value: id }));
const unknownKeys = (keys: readonly (string | number)[]) =>
  refused("series-unknown", { keys: [...new Set(keys)] });

function points(caller: RandomCaller): RandomRequest {
  const [{ id, name, isRead }] = someSeries(caller, 1) as [ReturnType<typeof someSeries>[0]];
  const byItsName = caller.random.chance(0.5);
  const address = byItsName ? `timeseries/data/${encodeURIComponent(name)}` : `timeseries/${id}/data`;
  const given = { needs: needs("timeseries") };
  const otherwise = unknownKeys([byItsName ? name : id]);
  switch (caller.random.below(5)) {
    case 0:
      return {
        ...given,
        ask: `GET ${below("0.5")}/${address}?start=0&end=9000&aggregates=max,count&granularity=1h`,
        seen: (reply) => reply.json.data.items[0]!["datapoints"],
        expected: isRead ? [{ timestamp: 0, max: id, count: 3 }] : otherwise,
      };
    case 1:
      return {
        ...given,
        ask: `GET ${below("0.6")}/${address.replace("/data", "/latest")}`,
        seen: (reply) => reply.json.data.items,
        expected: isRead ? pointsOf(id).slice(-1) : otherwise,
      };
    case 2:
      return {
        ...given,
        ask: `GET ${below("0.6")}/${address}/count?start=0&end=3000`,
        seen: (reply) => reply.json.data.items,
        expected: isRead ? [{ count: 2 }] : otherwise,
      };
    case 3:
      return {
        ...given,
        ask: `GET ${below("0.5")}/${address}?start=0&end=9000`,
        headers: { accept: "application/protobuf" },
        seen: (reply) => reply.bytes.length > 0,
        expected: isRead ? true : otherwise,
      };
    default:
      return {
        ...given,
        ask: `GET ${below("0.5")}/${address}?start=0&end=9000`,
        seen: (reply) => reply.json.data.items,
        expected: isRead ? [{ name, datapoints: pointsOf(id) }] : otherwise,
      };
  }
}

function manyPoints(caller: RandomCaller): RandomRequest {
  const series = someSeries(caller, 4);
  const items = series.map(({ id, name }) => (caller.random.chance(0.5) ? { id } : { name }));
  const hidden = items.filter((_, at) => !series[at]!.isRead).map((item) => item.id ?? item.name!);
  const given = { needs: needs("timeseries") };
  if (caller.random.chance(0.3))
    return {
      ...given,
      ask: `POST ${below("0.6")}/timeseries/latest`,
      body: { items },
      seen: (reply) => reply.json.data.items,
      expected:
        hidden.length > 0
          ? unknownKeys(hidden)
          : series.map(({ id, name }) => ({ name, datapoints: pointsOf(id).slice(-1) })),
    };
  if (caller.random.chance(0.5))
    return {
      ...given,
      ask: `POST ${below("0.5")}/timeseries/dataquery`,
      body: { items, start: 0, end: 9_000 },
      seen: (reply) => reply.json.data.items,
      expected:
        hidden.length > 0
          ? unknownKeys(hidden)
          : series.map(({ id, name }) => ({ name, datapoints: pointsOf(id) })),
    };
  const csv = [
    ["timestamp", ...series.map(({ name }) => `${name}|max`)],
    [0, ...series.map(({ id }) => id)],
  ];
  const frame = csv.map((cells) => `${cells.join()}\n`).join("");
  return {
    ...given,
    ask: `POST ${below("0.5")}/timeseries/dataframe`,
    body: { items, start: 0, end: 9_000, aggregates: ["max"], granularity: "1h" },
    seen: (reply) => reply.text,
    expected: hidden.length > 0 ? unknownKeys(hidden) : frame,
  };
}

const kinds: readonly Kind[] = ["assets", "timeseries", "events", "files", "sequences"];
const perKind = [list, listAll, underAssets, search, byId, byIds, byId, byIds, byExternalId];
const others = [
  labelled,
  divided,
  onAsset,
  byName,
  subtree,
  level,
  contents,
  download,
  rows,
  points,
  points,
  manyPoints,
  manyPoints,
];

/** One random request for records linked to assets. */
export const restRead = (caller: RandomCaller): RandomRequest =>
  caller.random.chance(0.55)
    ? caller.random.pick(perKind)(caller, caller.random.pick(kinds))
    : caller.random.pick(others)(caller);
