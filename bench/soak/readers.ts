// Clients that read the acknowledged points, and compare each value with the one that was written.
import { setTimeout as pause } from "node:timers/promises";
import { project, type SoakClient } from "./client.ts";
import type { Feed } from "./feed.ts";
import { nameOf, type Point, pointsOf, summaryOf } from "./signals.ts";

const betweenMs = 250;
const rawSecondsMax = 600;
const minutesMax = 240;
const frameSeries = 20;
const frameMinutes = 15;

export class Reader {
  readonly #client: SoakClient;
  readonly #feeds: readonly Feed[];
  readonly #ids: readonly string[];

  constructor(client: SoakClient, feeds: readonly Feed[], ids: readonly string[]) {
    this.#client = client;
    this.#feeds = feeds;
    this.#ids = ids;
  }

  async run(ending: AbortSignal): Promise<void> {
    const kinds = [this.#latest, this.#raw, this.#minutes, this.#frame, this.#odata];
    for (let turn = below(kinds.length); !ending.aborted; turn++) {
      await kinds[turn % kinds.length]!.call(this);
      await pause(betweenMs);
    }
  }

  /** The newest point: at least as new as the last acknowledged one when the request began. */
  async #latest(): Promise<void> {
    const { series, feed, to } = this.#any();
    const reply = await this.#client.send("latest", "GET", `${project}/timeseries/latest/${nameOf(series)}`);
    if (reply === undefined || to === feed.from) return;
    const [found] = itemsOf<Point>(reply);
    const second = (found?.timestamp ?? 0) / 1000;
    const isNew = second >= to - 1 && second < feed.sent;
    if (!isNew) this.#client.findings.push(`latest of ${nameOf(series)} is of ${second}, not of ${to - 1}`);
    else
      this.#client.compare(
        `latest of ${nameOf(series)}`,
        found?.value,
        pointsOf(series, second, second + 1)[0]?.value,
      );
  }

  async #raw(): Promise<void> {
    const { series, from, to } = this.#window(rawSecondsMax, 1);
    const reply = await this.#client.send("raw", "GET", `${dataOf(series)}?${rangeOf(from, to)}`);
    if (reply !== undefined)
      this.#client.compare(`points of ${nameOf(series)}`, datapointsOf(reply), pointsOf(series, from, to));
  }

  async #minutes(): Promise<void> {
    const { series, from, to } = this.#window(minutesMax * 60, 60);
    if (to - from < 60) return;
    const minutes = "granularity=1m&aggregates=count,min,max,sum";
    const path = `${dataOf(series)}?${rangeOf(from, to)}&${minutes}`;
    const reply = await this.#client.send("minutes", "GET", path);
    if (reply === undefined) return;
    const found = datapointsOf<Record<string, number>>(reply);
    const rounded = ({ timestamp, count, min, max, sum }: Record<string, number>) =>
      [timestamp, count, min, max, tenths(Number(sum))].join();
    const expected = Array.from({ length: (to - from) / 60 }, (_, at) =>
      summaryOf(series, from + 60 * at, 60),
    );
    this.#client.compare(
      `minutes of ${nameOf(series)}`,
      found.map(rounded),
      expected.map((one) => rounded({ ...one })),
    );
  }

  /** A dashboard: sums by minute of some series, as CSV. */
  async #frame(): Promise<void> {
    const { series: first, from, to } = this.#window(frameMinutes * 60, 60);
    if (to - from < 60) return;
    const feed = this.#feeds.find((one) => one.has(first))!;
    const all = Array.from({ length: frameSeries }, (_, at) => first + at).filter((one) => feed.has(one));
    const body = {
      ...{ items: all.map((series) => ({ name: nameOf(series) })), aggregates: ["sum"], granularity: "1m" },
      ...{ start: from * 1000, end: to * 1000, limit: minutesMax },
    };
    const reply = await this.#client.send(
      "frame",
      "POST",
      `${project}/timeseries/dataframe`,
      JSON.stringify(body),
    );
    if (reply === undefined) return;
    const [, ...rows] = reply
      .trim()
      .split("\n")
      .map((line) => line.split(",").map(Number));
    const expected = Array.from({ length: (to - from) / 60 }, (_, at) => [
      (from + 60 * at) * 1000,
      ...all.map((series) => summaryOf(series, from + 60 * at, 60).sum),
    ]);
    const rounded = (cells: readonly number[]) => cells.map((one) => tenths(one)).join();
    this.#client.compare(`frame of ${nameOf(first)}`, rows.map(rounded), expected.map(rounded));
  }

  async #odata(): Promise<void> {
    const { series, from, to } = this.#window(rawSecondsMax, 1);
    if (to === from) return;
    const at = (second: number) => new Date(second * 1000).toISOString();
    const filter = encodeURIComponent(`TimeStamp ge ${at(from)} and TimeStamp lt ${at(to)}`);
    const path = `/odata/v1/projects/default/Timeseries('${this.#ids[series]}')/DataPoints?$filter=${filter}`;
    const reply = await this.#client.send("OData", "GET", path);
    if (reply === undefined) return;
    const rows = JSON.parse(reply).value as { TimeStamp: string; Value: number }[];
    const found = rows.map(({ TimeStamp, Value }) => ({
      timestamp: Date.parse(TimeStamp),
      value: Number(Value),
    }));
    this.#client.compare(`OData of ${nameOf(series)}`, found, pointsOf(series, from, to));
  }

  /** Any series, with the second before which its points are acknowledged. */
  #any(): { readonly series: number; readonly feed: Feed; readonly to: number } {
    const series = below(this.#ids.length);
    const feed = this.#feeds.find((one) => one.has(series))!;
    return { series, feed, to: feed.acknowledged };
  }

  /** Any acknowledged window of whole steps. */
  #window(
    lengthMax: number,
    step: number,
  ): { readonly series: number; readonly from: number; readonly to: number } {
    const { series, feed, to } = this.#any();
    const [first, last] = [Math.ceil(feed.from / step), Math.floor(to / step)];
    const length = Math.min(below(lengthMax / step) + 1, Math.max(last - first, 0));
    const from = first + below(last - first - length + 1);
    return { series, from: from * step, to: (from + length) * step };
  }
}

/** Sums of values in tenths differ by rounding alone. */
const tenths = (value: number): number => Math.round(value * 10);
const dataOf = (series: number): string => `${project}/timeseries/data/${nameOf(series)}`;
const rangeOf = (from: number, to: number): string => `start=${from * 1000}&end=${to * 1000}&limit=10000`;
const below = (limit: number): number => Math.floor(Math.random() * Math.max(limit, 1));

const itemsOf = <Item>(reply: string): readonly Item[] => JSON.parse(reply).data.items;

export const datapointsOf = <Item = Point>(reply: string): readonly Item[] =>
  itemsOf<{ datapoints: readonly Item[] }>(reply)[0]?.datapoints ?? [];
