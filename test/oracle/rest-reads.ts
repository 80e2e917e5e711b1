// Reads over REST: lists, searches, by ids, datapoints, with the expected result for each caller.
import { compareText } from "../../src/lib/text.ts";
import type { Reply } from "./client.ts";
import { aclOf, type Kind, may, mayKnow, nounOf, type Thing } from "./plant.ts";
import { type Asker, type Question, refused } from "./question.ts";

export const below = (version: string) => `/api/${version}/projects/demo`;
export const words = ["pump", "valve", "motor", "tank"];
/** When every series has its points, each with the series' own id as the value. */
export const pointTimes = [1_000, 2_000, 3_000];

const idsIn = (reply: Reply): number[] => reply.json.data.items.map(({ id }) => id);
const sortedIdsIn = (reply: Reply): number[] => idsIn(reply).sort((a, b) => a - b);
const sortedIdsOf = (things: readonly Thing[]) => things.map(({ id }) => id).sort((a, b) => a - b);

const visible = ({ plant, rights }: Asker, kind: Kind) =>
  plant.of(kind).filter((one) => may(plant, rights, "READ", one));

/** An id of this kind, mostly one that may be read, or one of nothing that there is. */
export function anyId(asker: Asker, kind: Kind): number {
  const { plant, random } = asker;
  const seen = random.chance(0.6) ? visible(asker, kind) : [];
  if (seen.length > 0) return random.pick(seen).id;
  if (random.chance(0.1)) return random.pick([...plant.gone, 3, 2 ** 52]);
  return random.pick(plant.of(random.chance(0.05) ? "assets" : kind)).id;
}

const needs = (kind: Kind) => [aclOf[kind], "READ"] as const;

const version = ({ random }: Asker, kind: Kind) =>
  random.pick(kind === "sequences" ? ["0.5", "0.6"] : ["0.4", "0.5", "0.6"]);

/** The order of each list. */
function inOrder(asker: Asker, kind: Kind, things: readonly Thing[]): Thing[] {
  const depth = ({ id }: Thing) => asker.plant.lineage(id).length;
  const byId = (a: Thing, b: Thing) => a.id - b.id;
  if (kind === "assets") return things.toSorted((a, b) => depth(a) - depth(b) || byId(a, b));
  return things.toSorted(kind === "timeseries" ? (a, b) => compareText(a.name, b.name) : byId);
}

/** A page, and whether there are more. */
function list(asker: Asker, kind: Kind): Question {
  const limit = asker.random.pick([1, 3, 10, 1_000]);
  const all = inOrder(asker, kind, visible(asker, kind));
  return {
    ask: `GET ${below(version(asker, kind))}/${kind}?limit=${limit}`,
    needs: needs(kind),
    seen: (reply) => ({ ids: idsIn(reply), more: reply.json.data.nextCursor !== undefined }),
    expected: { ids: all.slice(0, limit).map(({ id }) => id), more: all.length > limit },
  };
}

/** All pages, one after the other. */
function listAll(asker: Asker, kind: Kind): Question {
  const path = `${below("0.5")}/${kind}?limit=${asker.random.pick([7, 20, 60])}`;
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
    expected: inOrder(asker, kind, visible(asker, kind)).map(({ id }) => id),
  };
}

/** The whole list by cursors for parallel reads. */
function divided(asker: Asker): Question {
  const kind = asker.random.pick(["assets", "events"] as const);
  const divisions = asker.random.pick([1, 2, 5]);
  return {
    ask: `GET ${below("0.6")}/${kind}/cursors?divisions=${divisions}`,
    needs: needs(kind),
    async seen(reply, client) {
      const pages = reply.json.data.items.map((cursor) =>
        client(`GET ${below("0.6")}/${kind}?limit=1000&cursor=${cursor}`),
      );
      return (await Promise.all(pages)).flatMap(idsIn);
    },
    expected: inOrder(asker, kind, visible(asker, kind)).map(({ id }) => id),
  };
}

const subtreeParameter = { assets: "path", timeseries: "path", events: "assetSubtrees", files: "path" };

/** Records linked to the subtrees of some assets: hidden assets count as missing. */
function underAssets(asker: Asker, kind: Kind): Question {
  const { plant, rights, random } = asker;
  const isSearch = kind === "sequences" || random.chance(0.5);
  const roots = [anyId(asker, "assets"), anyId(asker, "assets")].slice(0, random.below(2) + 1);
  const asked = isSearch ? roots : kind === "assets" ? roots.slice(-1) : roots;
  const known = asked.filter((id) => mayKnow(plant, rights, { kind, action: "READ" }, id));
  const parameter = isSearch ? "assetSubtrees" : subtreeParameter[kind as keyof typeof subtreeParameter];
  return {
    ask: `GET ${below("0.5")}/${kind}${isSearch ? "/search" : ""}?limit=1000&${parameter}=[${asked}]`,
    needs: needs(kind),
    seen: sortedIdsIn,
    expected: sortedIdsOf(visible(asker, kind).filter((one) => plant.isUnder(one, known))),
  };
}

function onAsset(asker: Asker): Question {
  const kind = asker.random.pick(["timeseries", "events", "files", "sequences"] as const);
  const assetId = anyId(asker, "assets");
  return {
    ask: `GET ${below("0.6")}/${kind}?limit=1000&assetId=${assetId}`,
    needs: needs(kind),
    seen: sortedIdsIn,
    expected: sortedIdsOf(visible(asker, kind).filter((one) => one.assetIds.includes(assetId))),
  };
}

function search(asker: Asker, kind: Kind): Question {
  const word = asker.random.pick([...words, "0", "00"]);
  const field = { events: "description", files: "name" }[kind as "events"] ?? "query";
  const found = visible(asker, kind).filter(({ name }) =>
    name.split(" ").some((one) => one.startsWith(word)),
  );
  return {
    ask: `GET ${below("0.5")}/${kind}/search?limit=1000&${field}=${word}`,
    needs: needs(kind),
    seen: sortedIdsIn,
    expected: sortedIdsOf(found),
  };
}

/** By what one finds a thing if one may. */
function byName(asker: Asker): Question {
  const kind = asker.random.pick(["assets", "timeseries", "files", "sequences"] as const);
  const { name } = asker.random.pick(asker.plant.of(kind));
  const path = `${below("0.5")}/${kind}`;
  return {
    ask: `GET ${path}?${kind === "timeseries" ? "q" : "name"}=${encodeURIComponent(name)}`,
    needs: needs(kind),
    seen: idsIn,
    expected: visible(asker, kind)
      .filter((one) => one.name === name)
      .map(({ id }) => id),
  };
}

/** By its external id, in the list and by `byids`. */
function byExternalId(asker: Asker, kind: Kind): Question {
  const { plant, rights, random } = asker;
  const thing = random.pick(plant.of(kind));
  const { id, externalId } = thing;
  const found = may(plant, rights, "READ", thing) ? [id] : [];
  const path = `${below(version(asker, kind))}/${kind}`;
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

function labelled(asker: Asker): Question {
  const kind = asker.random.pick(["assets", "timeseries", "events", "files"] as const);
  const label = asker.random.pick(words);
  const search = asker.random.chance(0.5) ? "/search" : "";
  return {
    ask: `GET ${below(version(asker, kind))}/${kind}${search}?limit=1000&labels=${label}`,
    needs: needs(kind),
    seen: sortedIdsIn,
    expected: sortedIdsOf(visible(asker, kind).filter(({ labels }) => labels.includes(label))),
  };
}

/** How each resource says that it does not know an id. */
export const unknown = (kind: Kind, ids: readonly number[], status?: 400 | 404) =>
  kind === "timeseries"
    ? refused("series-unknown", { keys: ids, status: status ?? 400 })
    : refused("ids-unknown", { field: "", ids, ...(status && { status }) });

const isSeen = (asker: Asker, kind: Kind, id: number) => visible(asker, kind).some((one) => one.id === id);

function byId(asker: Asker, kind: Kind): Question {
  const id = anyId(asker, kind);
  const expected = isSeen(asker, kind, id) ? [id] : unknown(kind, [id], 404);
  return { ask: `GET ${below("0.5")}/${kind}/${id}`, needs: needs(kind), seen: idsIn, expected };
}

function byIds(asker: Asker, kind: Kind): Question {
  const ids = [...new Set([anyId(asker, kind), anyId(asker, kind), anyId(asker, kind)])];
  const hidden = ids.filter((id) => !isSeen(asker, kind, id));
  return {
    ask: `POST ${below(version(asker, kind))}/${kind}/byids`,
    body: { items: ids },
    needs: needs(kind),
    seen: idsIn,
    expected: hidden.length > 0 ? unknown(kind, hidden) : ids,
  };
}

function subtree(asker: Asker): Question {
  const id = anyId(asker, "assets");
  const all = visible(asker, "assets").filter((one) => asker.plant.isUnder(one, [id]));
  return {
    ask: `GET ${below("0.5")}/assets/${id}/subtree?limit=1000`,
    needs: needs("assets"),
    seen: sortedIdsIn,
    expected: isSeen(asker, "assets", id) ? sortedIdsOf(all) : unknown("assets", [id], 404),
  };
}

function download(asker: Asker): Question {
  const id = anyId(asker, "files");
  const name = asker.plant.things.get(id)?.name ?? "";
  const expected = refused("file-not-uploaded", { name });
  return {
    ask: `GET ${below(asker.random.pick(["0.5", "0.6"]))}/files/${id}/downloadlink`,
    needs: needs("files"),
    seen: () => "a link",
    expected: isSeen(asker, "files", id) ? expected : unknown("files", [id], 404),
  };
}

function rows(asker: Asker): Question {
  const id = anyId(asker, "sequences");
  return {
    ask: `POST ${below("0.6")}/sequences/${id}/getdata`,
    body: { items: [{}] },
    needs: needs("sequences"),
    seen: (reply) => reply.json.data.items.flatMap(({ rows }) => rows),
    expected: isSeen(asker, "sequences", id) ? [] : unknown("sequences", [id], 404),
  };
}

/** Some series by name or by id, those that may not be read among them. */
function someSeries(asker: Asker, most: number) {
  const ids = Array.from({ length: asker.random.below(most) + 1 }, () => anyId(asker, "timeseries"));
  return ids.map((id) => {
    const series = asker.plant.things.get(id);
    const isSeries = series?.kind === "timeseries";
    const name = isSeries ? series.name : `no series ${id}`;
    return { id, name, isRead: isSeries && may(asker.plant, asker.rights, "READ", series) };
  });
}

/** The expected response of a series. */
export const pointsOf = (id: number) => pointTimes.map((timestamp) => ({ timestamp, value: id }));
const unknownKeys = (keys: readonly (string | number)[]) =>
  refused("series-unknown", { keys: [...new Set(keys)] });

function points(asker: Asker): Question {
  const [{ id, name, isRead }] = someSeries(asker, 1) as [ReturnType<typeof someSeries>[0]];
  const byItsName = asker.random.chance(0.5);
  const address = byItsName ? `timeseries/data/${encodeURIComponent(name)}` : `timeseries/${id}/data`;
  const given = { needs: needs("timeseries") };
  const otherwise = unknownKeys([byItsName ? name : id]);
  switch (asker.random.below(4)) {
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

function manyPoints(asker: Asker): Question {
  const series = someSeries(asker, 4);
  const items = series.map(({ id, name }) => (asker.random.chance(0.5) ? { id } : { name }));
  const hidden = items.filter((_, at) => !series[at]!.isRead).map((item) => item.id ?? item.name!);
  const given = { needs: needs("timeseries") };
  if (asker.random.chance(0.5))
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
  const frame = csv
    .map(
      (cells) => `${cells.join()}
`,
    )
    .join("");
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
  download,
  rows,
  points,
  points,
  manyPoints,
  manyPoints,
];

/** One random request for records linked to assets. */
export const restRead = (asker: Asker): Question =>
  asker.random.chance(0.55)
    ? asker.random.pick(perKind)(asker, asker.random.pick(kinds))
    : asker.random.pick(others)(asker);
