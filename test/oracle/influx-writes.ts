// Writes in line protocol: lines for series outside the caller's rights are refused, and change nothing.
import { isUnbounded, may, mayKnow, type Thing } from "./plant.ts";
import type { RandomCaller, RandomRequest } from "./random-request.ts";
import { anyId, below, pointTimes, words } from "./rest-reads.ts";
import { givePoints } from "./setting.ts";

const needs = ["timeSeriesAcl", "WRITE"] as const;
const templates = "series={tag:series}&asset={tag:asset}";
const escaped = (text: string) => text.replaceAll(/[,= ]/g, "\\$&");

const write = (lines: readonly string[]) =>
  ({
    ask: `POST /influx/demo/write?precision=ms&${templates}`,
    body: Buffer.from(lines.join("\n")),
    needs,
    refusals: "by status",
    seen: ({ status }) => status,
  }) as const satisfies Partial<RandomRequest>;

/** Values that no caller may read are written to the series that may not be written. */
function insert({ plant, rights, random }: RandomCaller): RandomRequest {
  const series = [random.pick(plant.of("timeseries")), random.pick(plant.of("timeseries"))];
  const isWritable = (one: Thing) => may(plant, rights, "WRITE", one);
  const lines = series.map(
    (one) => `plant,series=${escaped(one.name)} v=${isWritable(one) ? one.id : -1} ${pointTimes[1]}`,
  );
  return { ...write(lines), expected: series.every(isWritable) ? 204 : { status: 400 } };
}

/** A new series, linked to the asset of this external id if the caller may know of it. */
function create(caller: RandomCaller): RandomRequest {
  const { plant, rights, random } = caller;
  const name = plant.freshName(random.pick(words));
  const asset = plant.things.get(anyId(caller, "assets"));
  const isKnown =
    asset !== undefined && mayKnow(plant, rights, { kind: "timeseries", action: "WRITE" }, asset.id);
  const assetIds = isKnown ? [asset.id] : [];
  const made: Thing = {
    ...{
      kind: "timeseries",
      id: 0,
      name,
      isFromLine: true,
      externalId: `x ${name}`,
      labels: [],
      categories: [],
    },
    assetIds,
  };
  const isPermitted = isKnown ? may(plant, rights, "WRITE", made) : isUnbounded(rights, "timeseries");
  const tag = asset ? `,asset=${escaped(asset.externalId)}` : "";
  return {
    ...write([`plant,series=${escaped(name)}${tag} v=-1 ${pointTimes[1]}`]),
    expected: isPermitted ? 204 : { status: 400 },
    changed: async (_, admin) => {
      const found = await admin(`GET ${below("0.5")}/timeseries?name=${encodeURIComponent(name)}`);
      const { id } = found.json.data.items[0]!;
      await admin(`POST ${below("0.5")}/timeseries/${id}/update`, { externalId: { set: made.externalId } });
      plant.things.set(id, { ...made, id });
      await givePoints(admin, [{ id }]);
    },
  };
}

/** One write, by chance. */
export const influxWrite = (caller: RandomCaller): RandomRequest =>
  caller.random.pick([insert, create])(caller);
