// W12: pages of datapoints and entities with others expanded, over the entity-model interface.
import { generateSeries, pointsPerRequest, seed } from "./generate.ts";
import { Connection, drive, expectSuccess } from "./http.ts";
import { getOData, millrace, post } from "./systems/millrace.ts";
import { occurrences } from "./systems/system.ts";
import { type Figures, percentile, timesOf } from "./workloads.ts";

export interface ODataScale {
  readonly points: number;
  readonly assets: number;
  readonly reads: number;
}

export const fullOData: ODataScale = { points: 1_000_000, assets: 1_000, reads: 50 };
export const quickOData: ODataScale = { points: 100_000, assets: 1_000, reads: 10 };

const seriesPerAsset = 3;

/** One round on a fresh server. */
export async function measureOData(port: number, scale: ODataScale): Promise<Partial<Figures>> {
  const connection = await Connection.open(port);
  try {
    return {
      W12points: await pointsPerSecond(connection, scale),
      W12expand: await expandedAssets(connection, scale),
    };
  } finally {
    connection.close();
  }
}

/** Reads all pages of one series by their next links. */
async function pointsPerSecond(connection: Connection, { points }: ODataScale): Promise<number> {
  const [series] = generateSeries(1, points, seed) as [ReturnType<typeof generateSeries>[0]];
  const items = [{ name: series.name }];
  expectSuccess(await connection.send(post("/timeseries", JSON.stringify({ items }))));
  const named = getOData(`Timeseries?$filter=Name%20eq%20'${series.name}'&$select=Id`);
  const [, id] = /"Id":"(\d+)"/.exec(expectSuccess(await connection.send(named)).body.toString())!;
  for (let from = 0; from < points; from += pointsPerRequest)
    await drive([connection], [millrace.requests.backfill(series, from, from + pointsPerRequest)]);
  let [found, next] = [0, `Timeseries('${id}')/DataPoints` as string | undefined];
  const started = performance.now();
  while (next !== undefined) {
    const { body } = expectSuccess(await connection.send(getOData(next)));
    found += occurrences(body, '"Value"');
    const [, link] =
      /"@odata.nextLink":"http:\/\/[^/]+([^"]+)"/.exec(body.toString("latin1", body.length - 2_000)) ?? [];
    next = link;
  }
  const seconds = (performance.now() - started) / 1000;
  if (found !== points) throw new Error(`${found} points of ${points} came`);
  return points / seconds;
}

async function expandedAssets(connection: Connection, { assets, reads }: ODataScale): Promise<number> {
  const items = Array.from({ length: assets }, (_, at) => ({
    ...{ name: `expanded ${at}`, source: "bench", description: "an asset with series" },
  }));
  const made = expectSuccess(await connection.send(post("/assets", JSON.stringify({ items }))));
  const ids = [...made.body.toString().matchAll(/"id":(\d+)/g)].map(([, id]) => Number(id));
  for (let each = 0; each < seriesPerAsset; each++) {
    const series = ids.map((assetId) => ({ name: `series ${each} of ${assetId}`, assetId, unit: "bar" }));
    expectSuccess(await connection.send(post("/timeseries", JSON.stringify({ items: series }))));
  }
  const request = getOData("Assets?$filter=Source%20eq%20%27bench%27&$expand=Timeseries");
  const whole = expectSuccess(await connection.send(request)).body;
  const found = occurrences(whole, '"IsString"');
  if (found !== assets * seriesPerAsset) throw new Error(`${found} series of ${assets} assets came`);
  return percentile(await timesOf(reads, async () => expectSuccess(await connection.send(request))), 0.5);
}
