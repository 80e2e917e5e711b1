// W3: the backfill of W1 with points that come late, repeat others, or overwrite them.
import { type GeneratedSeries, generateSeries, pointsPerRequest, randomFrom, seed } from "./generate.ts";
import { Connection, drive, expectSuccess, openConnections, type RequestBytes } from "./http.ts";
import { get, millrace } from "./systems/millrace.ts";
import type { Running } from "./systems/system.ts";
import type { Figures, Scale } from "./workloads.ts";

const share = { late: 0.05, repeated: 0.01, overwritten: 0.001 };

type OpenServer = (work: (running: Running) => Promise<Figures>) => Promise<Figures>;

/** W1 and then W3, each on a fresh server, and how they compare. */
export async function measureLate(open: OpenServer, scale: Scale): Promise<Figures> {
  const series = generateSeries(scale.series, scale.pointsPerSeries, seed);
  const plain = series.map((one) => Array.from(piecesOf(one)));
  const mixed = series.map((one, at) => Array.from(mixedUp(one, randomFrom(seed + at))));
  const { W1 } = await open(async (running) => ({ W1: await loadRate(running, plain) }));
  return open(async (running) => {
    const W3 = await loadRate(running, mixed);
    for (const [at, sent] of mixed.entries()) if (at % 10 === 0) await compare(running, sent);
    return { W3, W3share: W3 / W1! };
  });
}

function* piecesOf({ name, times, values }: GeneratedSeries): Generator<GeneratedSeries> {
  for (let from = 0; from < times.length; from += pointsPerRequest) {
    const to = from + pointsPerRequest;
    yield { name, times: times.subarray(from, to), values: values.subarray(from, to) };
  }
}

/** The same points, some of them a request later than they should, and some once more. */
function* mixedUp(series: GeneratedSeries, random: () => number): Generator<GeneratedSeries> {
  const { name, times, values } = series;
  let late: number[] = [];
  for (let from = 0; from < times.length; from += pointsPerRequest) {
    const to = Math.min(times.length, from + pointsPerRequest);
    const [sentTimes, sentValues, withheld] = [[] as number[], [] as number[], [] as number[]];
    const send = (at: number, change = 0) => {
      sentTimes.push(times[at]!);
      sentValues.push(values[at]! + change);
    };
    for (let at = from; at < to; at++) {
      const dice = random();
      if (to < times.length && dice < share.late) withheld.push(at);
      else send(at);
      // Late ones arrive in between, about evenly, the oldest first.
      if (late.length > 0 && random() < late.length / (to - at)) send(late.shift()!);
      if (at > 0 && random() < share.repeated) send(Math.floor(random() * from));
      if (from > 0 && random() < share.overwritten) send(Math.floor(random() * from), 1);
    }
    for (const one of late) send(one);
    late = withheld;
    yield { name, times: Float64Array.from(sentTimes), values: Float64Array.from(sentValues) };
  }
}

/** Points sent a second: the first request of every series, then the second ones. */
async function loadRate(running: Running, sent: readonly (readonly GeneratedSeries[])[]): Promise<number> {
  const requests: RequestBytes[] = [];
  let points = 0;
  for (let at = 0; at < sent[0]!.length; at++)
    for (const pieces of sent) {
      const piece = pieces[at]!;
      requests.push(millrace.requests.backfill(piece, 0, piece.times.length));
      points += piece.times.length;
    }
  await running.declare(sent.map(([first]) => first!.name));
  const connections = await openConnections(running.port);
  const seconds = await drive(connections, requests);
  for (const one of connections) one.close();
  return points / seconds;
}

/** Throws unless the series holds, for each time, the value that was sent last. */
async function compare({ port }: Running, sent: readonly GeneratedSeries[]): Promise<void> {
  const expected = new Map<number, number>();
  for (const { times, values } of sent)
    for (const [at, time] of times.entries()) expected.set(time, values[at]!);
  const connection = await Connection.open(port);
  const { body } = expectSuccess(
    await connection.send(get(`/timeseries/data/${sent[0]!.name}?start=0&limit=100000`)),
  );
  connection.close();
  const [{ datapoints }] = JSON.parse(body.toString()).data.items as [
    { datapoints: { timestamp: number; value: number }[] },
  ];
  if (datapoints.length !== expected.size) throw new Error(`${datapoints.length} points are stored`);
  for (const { timestamp, value } of datapoints)
    if (expected.get(timestamp) !== value) throw new Error(`${value} is stored at ${timestamp}`);
}
