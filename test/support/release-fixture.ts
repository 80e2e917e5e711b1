// What the data folder of a release has in test/fixtures/releases, and how it is read back.
import type { AskProject } from "./sample-part.ts";
import { fillSmallProject, readProject } from "./samples.ts";

/** The administrator's key of the data folder of each release. */
export const releaseKey = "the-key-of-the-data-folder-of-a-release";

const seriesName = "release flow";
const firstTime = 1_700_000_000_000;
const lateTime = 1_750_000_000_000;

/** Samples of every resource, and a series with enough datapoints for several blocks. */
export async function fillReleaseFixture(ask: AskProject): Promise<void> {
  await fillSmallProject(ask);
  await ask("POST /timeseries", { items: [{ name: seriesName }] });
  const points = Array.from({ length: 10_000 }, (_, at) => ({
    timestamp: firstTime + at * 60_000,
    value: Math.round(Math.sin(at / 100) * 1e4) / 100,
  }));
  await ask(`POST /timeseries/data/${encodeURIComponent(seriesName)}`, { items: points }, "0.5");
}

/**
 * The audit log up to the record `lastSeq`, the first one first, and whether its chain holds. An archive has
 * none.
 */
export async function readAuditLog(ask: AskProject, lastSeq = Number.POSITIVE_INFINITY) {
  const { items } = await ask("GET /audit?limit=1000");
  const verification = JSON.parse((await ask("GET /audit/verification")).text).data;
  return {
    records: items
      .filter(({ seq }) => Number(seq) <= lastSeq)
      .sort((a, b) => Number(a["seq"]) - Number(b["seq"])),
    isIntact: verification.isIntact as boolean,
  };
}

export type AuditLog = Awaited<ReturnType<typeof readAuditLog>>;

/** Datapoints that are in the journal alone when the server is killed. */
export async function writeLatePoints(ask: AskProject): Promise<void> {
  const items = Array.from({ length: 50 }, (_, at) => ({ timestamp: lateTime + at, value: at / 3 }));
  await ask(`POST /timeseries/data/${encodeURIComponent(seriesName)}`, { items }, "0.5");
}

/** What the API returns: every record, with names instead of ids, the datapoints and their aggregates. */
export async function readReleaseFixture(ask: AskProject): Promise<Readonly<Record<string, unknown>>> {
  const path = `/timeseries/data/${encodeURIComponent(seriesName)}`;
  const read = async (query: string) =>
    JSON.parse((await ask(`GET ${path}?${query}`, undefined, "0.5")).text);
  const found = {
    records: await readProject(ask),
    points: await read("start=0&limit=10000"),
    late: await read(`start=${lateTime}&limit=100`),
    daily: await read("start=0&limit=10000&granularity=1d&aggregates=avg,min,max,count"),
  };
  return JSON.parse(JSON.stringify(found));
}
