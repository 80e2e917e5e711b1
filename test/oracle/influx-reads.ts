// Queries in InfluxQL: the series, tags and points that a caller may read, and nothing else.
import { compareText } from "../../src/lib/text.ts";
import type { Reply } from "./client.ts";
import { may, mayKnow, type Thing } from "./plant.ts";
import type { RandomCaller, RandomRequest } from "./random-request.ts";
import { pointTimes } from "./rest-reads.ts";

interface Series {
  readonly tags?: Readonly<Record<string, string>>;
  readonly values: readonly (readonly unknown[])[];
}

/** The series of the only statement; its refusal if there is one. */
function seriesIn({ text }: Reply): readonly Series[] {
  const { results } = JSON.parse(text) as {
    readonly results: readonly [{ readonly series?: readonly Series[]; readonly error?: string }];
  };
  if (results[0].error !== undefined) throw new Error(results[0].error);
  return results[0].series ?? [];
}

const request = (q: string) =>
  ({
    ask: `GET /influx/demo/query?epoch=ms&q=${encodeURIComponent(q)}`,
    needs: ["timeSeriesAcl", "READ"],
    refusals: "by status",
  }) as const satisfies Partial<RandomRequest>;

const visible = ({ plant, rights }: RandomCaller) =>
  plant.of("timeseries").filter((one) => may(plant, rights, "READ", one));

const ofPlant = (caller: RandomCaller) => visible(caller).filter(({ isFromLine }) => !isFromLine);

const byName = (things: readonly Thing[]) => things.toSorted((a, b) => compareText(a.name, b.name));
const text = (value: string) => `'${value.replaceAll("'", "\\'")}'`;

/** The names of the visible assets from the top down to the asset of a series. */
function pathOf({ plant, rights }: RandomCaller, { assetIds: [assetId] }: Thing): string[] {
  const knows = (id: number) => mayKnow(plant, rights, { kind: "timeseries", action: "READ" }, id);
  if (assetId === undefined || !knows(assetId)) return [];
  const seen = plant.lineage(assetId).filter(knows);
  return seen.map((id) => plant.things.get(id)!.name).reverse();
}

function tagValues(caller: RandomCaller): RandomRequest {
  const key = caller.random.pick(["name", "asset", "path", "root"]);
  const values = ofPlant(caller).flatMap((series) => {
    const path = pathOf(caller, series);
    const value = { name: series.name, asset: path.at(-1), path: path.join("/"), root: path[0] }[key];
    return value ? [value] : [];
  });
  return {
    ...request(`SHOW TAG VALUES FROM points WITH KEY = "${key}"`),
    seen: (reply) => seriesIn(reply).flatMap((one) => one.values.map(([, value]) => value)),
    expected: [...new Set(values)].sort(compareText),
  };
}

/** The series of an asset by its name, hidden or not. */
function ofAsset(caller: RandomCaller): RandomRequest {
  const { plant, random } = caller;
  const { name } = random.pick(plant.of("assets"));
  const form = random.pick([
    `asset = ${text(name)}`,
    `asset =~ /^${name}$/`,
    `path =~ /${name}/ AND asset =~ /./`,
  ]);
  const isPath = form.startsWith("path");
  const found = ofPlant(caller).filter((series) => {
    const path = pathOf(caller, series);
    return isPath ? path.includes(name) : path.at(-1) === name;
  });
  return {
    ...request(`SELECT value FROM points WHERE ${form} GROUP BY "name"`),
    seen: (reply) => seriesIn(reply).map(({ tags, values }) => [tags!["name"], values]),
    expected: byName(found).map(({ id, name: of }) => [of, pointTimes.map((timeMs) => [timeMs, id])]),
  };
}

/** Aggregates and rows of series by name: hidden ones count as missing. */
function ofSeries(caller: RandomCaller): RandomRequest {
  const { plant, rights, random } = caller;
  const all = plant.of("timeseries").filter(({ isFromLine }) => !isFromLine);
  const distinct = [...new Set([random.pick(all), random.pick(all)])];
  const list = random.pick(["max(value)", "last(value)", "average(value)"]);
  const among = `name =~ /^(${distinct.map(({ name }) => name).join("|")})$/`;
  const found = distinct.filter((one) => may(plant, rights, "READ", one));
  return {
    ...request(`SELECT ${list} FROM points WHERE ${among} GROUP BY "name"`),
    seen: (reply) =>
      seriesIn(reply).map(({ tags, values }) => [tags!["name"], values.map(([, value]) => value)]),
    expected: byName(found).map(({ id, name }) => [name, [id]]),
  };
}

function allTogether(caller: RandomCaller): RandomRequest {
  const ids = ofPlant(caller).map(({ id }) => id);
  return {
    ...request("SELECT count(value), min(value), max(value) FROM points GROUP BY none"),
    seen: (reply) => seriesIn(reply).flatMap(({ values }) => values.map(([, ...rest]) => rest)),
    expected: ids.length > 0 ? [[pointTimes.length * ids.length, Math.min(...ids), Math.max(...ids)]] : [],
  };
}

/** Series that lines wrote are in the measurement of the lines. */
function fromLines(caller: RandomCaller): RandomRequest {
  const found = visible(caller).filter(({ isFromLine }) => isFromLine);
  const names = found.map(({ externalId, id }) => [externalId.slice("x ".length), id] as const);
  return {
    ...request("SELECT last(v) FROM plant GROUP BY series"),
    seen: (reply) => seriesIn(reply).map(({ tags, values }) => [tags!["series"], values[0]![1]]),
    expected: names.toSorted(([a], [b]) => compareText(a, b)),
  };
}

/** One query, by chance. */
export const influxRead = (caller: RandomCaller): RandomRequest =>
  caller.random.pick([tagValues, ofAsset, ofSeries, allTogether, fromLines])(caller);
