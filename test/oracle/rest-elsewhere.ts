// Reads over REST of what hangs on no asset, which is for everybody who may read it or for nobody; and reads
// that work out something from assets and series: tag matching, calculated series and similarity search.
import type { Client } from "./client.ts";
import { holds, may, type Plant, type Thing } from "./plant.ts";
import { type Asker, type Question, refused } from "./question.ts";
import { anyId, below, pointsOf, pointTimes } from "./rest-reads.ts";

const names = ["feeds a", "feeds b", "drains c"];
const rows = ["1", "2", "3"];

/** Makes relationships and raw rows. */
export async function fillElsewhere(admin: Client, plant: Plant): Promise<void> {
  plant.related = plant.of("assets")[0]!.externalId;
  const ends = {
    ...{ sourceType: "asset", sourceExternalId: plant.related },
    ...{ targetType: "asset", targetExternalId: "b" },
  };
  const relationships = names.map((externalId) => ({ externalId, ...ends }));
  await admin(`POST ${below("0.6")}/relationships`, { items: relationships });
  const items = rows.map((key) => ({ key, columns: { of: key } }));
  await admin(`POST ${below("0.5")}/raw/plant/rows/create?ensureParent=true`, { items });
}

const related = ["relationshipsAcl", "READ"] as const;

function relationships({ random }: Asker): Question {
  const wanted = random.some([...names, "none"], 3);
  const isList = wanted.includes("none") || wanted.length === 0;
  if (isList)
    return {
      ask: `GET ${below("0.6")}/relationships?limit=100`,
      needs: related,
      seen: (reply) => reply.json.data.items.map((item) => item["externalId"]),
      expected: names,
    };
  return {
    ask: `POST ${below("0.5")}/relationships/byids`,
    body: { items: wanted },
    needs: related,
    seen: (reply) => reply.json.data.items.map((item) => item["externalId"]),
    expected: wanted,
  };
}

/** The external id of a hidden asset does not show in what it relates to. */
function relationshipsOfAsset(asker: Asker): Question {
  const { plant, rights, random } = asker;
  const related = plant.of("assets").filter(({ externalId }) => externalId === plant.related);
  const assetId = related.length > 0 && random.chance(0.5) ? related[0]!.id : anyId(asker, "assets");
  const asset = plant.things.get(assetId);
  const isRelated = asset?.externalId === plant.related && may(plant, rights, "READ", asset);
  return {
    ask: `GET ${below("0.6")}/relationships?assetId=${assetId}`,
    needs: ["relationshipsAcl", "READ"],
    seen: (reply) => reply.json.data.items.map((item) => item["externalId"]),
    expected: isRelated ? names : [],
  };
}

function oneRelationship({ random }: Asker): Question {
  const externalId = random.pick([...names, "none"]);
  const details = { what: "relationship", externalIds: [externalId], status: 404 } as const;
  return {
    ask: `GET ${below("0.6")}/relationships/${encodeURIComponent(externalId)}`,
    needs: related,
    seen: (reply) => reply.json.data.items.map((item) => item["externalId"]),
    expected: externalId === "none" ? refused("external-ids-unknown", details) : [externalId],
  };
}

function raw({ random }: Asker): Question {
  const member = (name: string): Question["seen"] => {
    return (reply) => reply.json.data.items.map((item) => item[name]);
  };
  const list = ["rawAcl", "LIST"] as const;
  const read = ["rawAcl", "READ"] as const;
  const at = `GET ${below(random.pick(["0.4", "0.5", "0.6"]))}/raw`;
  return random.pick<Question>([
    { ask: at, needs: list, seen: member("dbName"), expected: ["plant"] },
    { ask: `${at}/plant`, needs: list, seen: member("tableName"), expected: ["rows"] },
    { ask: `${at}/plant/rows`, needs: read, seen: member("key"), expected: rows },
    { ask: `${at}/plant/rows/2`, needs: read, seen: member("columns"), expected: [{ of: "2" }] },
  ]);
}

/** A name that nobody may see comes near to no tag. */
function tagMatching(asker: Asker): Question {
  const { plant, rights, random } = asker;
  const asset = random.pick(plant.of("assets"));
  const match = { tagId: asset.name, score: 0, platform: null };
  return {
    ask: `POST ${below("0.5")}/tagmatching`,
    body: { tagIds: [asset.name], metadata: { fuzzyThreshold: 0, platform: null } },
    needs: ["assetsAcl", "READ"],
    seen: (reply) => reply.json.data.items,
    expected: [{ tagId: asset.name, matches: may(plant, rights, "READ", asset) ? [match] : [] }],
  };
}

/** The sum of two series is for those who may read both. */
function sum(asker: Asker): Question {
  const { plant, rights } = asker;
  const ids = [...new Set([anyId(asker, "timeseries"), anyId(asker, "timeseries")])];
  const hidden = ids.filter((id) => {
    const series = plant.things.get(id);
    return series?.kind !== "timeseries" || !may(plant, rights, "READ", series);
  });
  const total = ids.reduce((one, other) => one + other, 0);
  return {
    ask: `POST ${below("0.6")}/timeseries/dataquery`,
    body: {
      items: [{ name: "sum", function: ids.map((id) => `[${id}]`).join("+") }],
      ...{ start: "0", end: "9000" },
    },
    needs: ["timeSeriesAcl", "READ"],
    seen: (reply) => reply.json.data.items,
    expected:
      hidden.length > 0
        ? refused("series-unknown", { keys: hidden })
        : [{ name: "sum", datapoints: pointsOf(total) }],
  };
}

const anySeries = ({ plant, random }: Asker): Thing => random.pick(plant.of("timeseries"));

/** The points of one series, looked for in another: both are as far apart as their ids. */
function similarity(asker: Asker): Question {
  const { plant, rights } = asker;
  const [input, searched] = [anySeries(asker), anySeries(asker)];
  const [inputTagId, tagId] = [input.name, searched.name];
  const hidden = [...new Set([input, searched])].filter((one) => !may(plant, rights, "READ", one));
  const keys = hidden.map(({ name }) => name);
  const match = { from: pointTimes[0]!, to: pointTimes.at(-1)! + 1, tagId, inputTagId, mode: "value" };
  const expected = [{ ...match, apart: Math.abs(input.id - searched.id) }];
  const refusal = holds(rights, "timeSeriesAcl", "READ")
    ? refused("series-unknown", { keys })
    : refused("forbidden", { acl: "timeSeriesAcl", action: "READ" });
  const interval = { start: 0, end: 9_000 };
  return {
    ask: `POST ${below("0.4")}/similaritysearch`,
    body: {
      ...{ inputTags: [inputTagId], queryTags: [tagId], modes: ["value"], limit: 5 },
      ...{ inputInterval: interval, queryInterval: interval },
    },
    needs: ["analyticsAcl", "EXECUTE"],
    seen: (reply) =>
      reply.json.data.items.map(({ score, ...found }) => ({
        ...found,
        apart: Math.round(Number(score) / Math.sqrt(pointTimes.length)),
      })),
    expected: hidden.length > 0 ? refusal : expected,
  };
}

export const readsElsewhere = [
  ...[relationships, oneRelationship, relationshipsOfAsset, raw, tagMatching, tagMatching],
  ...[sum, sum, similarity, similarity],
];
