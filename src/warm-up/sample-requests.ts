// The requests of the warm-up: those that clients send most, in a few sizes.
import { messageOfNumbers } from "../demo/point-message.ts";
import type { SampleRequest } from "./sample-connection.ts";
import { sampleNames, sampleProject } from "./sample-records.ts";

const startMs = Date.UTC(2020, 0, 1);
const hourMs = 3_600_000;
const hours = 240;
const pointCount = 1_000;
const frameSeries = 10;
/** Of a write as text. The message has all series: without them, its fifth request was still slow. */
const writtenSeries = 100;

/** The requests of a client with this key, cheap ones first: each leaves less to compile for the next. */
export function sampleRequests(key: string): readonly SampleRequest[] {
  const project = `/api/0.5/projects/${sampleProject.urlName}`;
  const credentials = { "api-key": key };
  const get = (path: string): SampleRequest => ({ method: "GET", path, headers: credentials });
  const post = (path: string, type: string, body: string | Uint8Array): SampleRequest => ({
    ...{ method: "POST", path, headers: { ...credentials, "content-type": type }, body },
  });
  const names = sampleNames();
  const written = names.slice(0, writtenSeries);
  const [first = ""] = names;
  const name = encodeURIComponent(first);
  const range = `start=${startMs}&end=${startMs + hours * hourMs}&limit=10000`;
  const frame = {
    items: names.slice(0, frameSeries).map((one) => ({ name: one })),
    ...{
      start: startMs,
      end: startMs + hours * hourMs,
      aggregates: ["avg"],
      granularity: "1h",
      limit: 1_000,
    },
  };
  return [
    get("/login/status"),
    get(`${project}/timeseries/latest/${name}`),
    get(`${project}/timeseries/data/${name}?${range}`),
    get(`${project}/timeseries/data/${name}?${range}&aggregates=avg&granularity=1h`),
    post(`${project}/timeseries/data/${name}`, "application/json", points()),
    post(`${project}/timeseries/data`, "application/json", scanCycle(written)),
    post(`${project}/timeseries/data`, "application/protobuf", message(names)),
    post(
      `/influx/${sampleProject.urlName}/write?precision=ms&series=%7Bmeasurement%7D`,
      "text/plain",
      lines(written),
    ),
    post(`${project}/timeseries/dataframe`, "application/json", JSON.stringify(frame)),
    get(`${project}/assets?limit=100`),
    get(`/odata/v1/projects/${sampleProject.urlName}/Assets?$top=100`),
  ];
}

const valueAt = (at: number) => Math.round(1_000 * Math.sin(at / 100)) / 1_000 + 0.5;

const pointAt = (at: number) => ({ timestamp: startMs + at * 1_000, value: valueAt(at) });

const points = () => JSON.stringify({ items: Array.from({ length: pointCount }, (_, at) => pointAt(at)) });

const scanCycle = (names: readonly string[]) =>
  JSON.stringify({ items: names.map((name, at) => ({ name, datapoints: [pointAt(at)] })) });

const lines = (names: readonly string[]) =>
  names.map((name, at) => `${name.replace(" ", "\\ ")} value=${valueAt(at)} ${startMs}`).join("\n");

const message = (names: readonly string[]) => messageOfNumbers(names, startMs, valueAt);
