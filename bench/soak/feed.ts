// Clients that write the plant: each has a group of series and sends each second one point of all of them.
// A second that was not acknowledged is sent again, with those that came meanwhile.
import { setTimeout as pause } from "node:timers/promises";
import { project, type SoakClient } from "./client.ts";
import { nameOf, pointsOf } from "./signals.ts";

/** Seconds in one request after the server was away. */
const secondsMax = 20;
const afterRefusalMs = 200;
const seriesPerRequest = 1_000;

export class Feed {
  readonly #client: SoakClient;
  readonly #first: number;
  readonly #last: number;
  /** The first second that it writes. */
  readonly from: number;
  /** The second before which all are acknowledged. */
  acknowledged: number;
  /** The second before which all may be stored. */
  sent: number;

  /** Of the series `first` to before `last`. */
  constructor(client: SoakClient, first: number, last: number) {
    this.#client = client;
    this.#first = first;
    this.#last = last;
    this.from = Math.floor(Date.now() / 1000);
    this.acknowledged = this.from;
    this.sent = this.from;
  }

  has(series: number): boolean {
    return series >= this.#first && series < this.#last;
  }

  get points(): number {
    return (this.acknowledged - this.from) * (this.#last - this.#first);
  }

  async run(ending: AbortSignal): Promise<void> {
    while (!ending.aborted) {
      const now = Math.floor(Date.now() / 1000);
      if (this.acknowledged > now) await pause(1000 - (Date.now() % 1000));
      else await this.#send(Math.min(now + 1, this.acknowledged + secondsMax));
    }
  }

  async #send(to: number): Promise<void> {
    const from = this.acknowledged;
    this.sent = Math.max(this.sent, to);
    const items = Array.from({ length: this.#last - this.#first }, (_, at) => ({
      name: nameOf(this.#first + at),
      datapoints: pointsOf(this.#first + at, from, to),
    }));
    const body = JSON.stringify({ items });
    const reply = await this.#client.send("write", "POST", `${project}/timeseries/data`, body);
    if (reply === undefined) await pause(afterRefusalMs);
    else this.acknowledged = to;
  }
}

/** Creates the series; returns the id of each. */
export async function createSeries(client: SoakClient, count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    const length = Math.min(seriesPerRequest, count - ids.length);
    const items = Array.from({ length }, (_, at) => ({ name: nameOf(ids.length + at), unit: "bar" }));
    const reply = await client.send(
      "create series",
      "POST",
      `${project}/timeseries`,
      JSON.stringify({ items }),
    );
    if (reply === undefined) throw new Error(`Series were not created: ${client.findings.join("\n")}`);
    for (const { id } of JSON.parse(reply).data.items) ids.push(String(id));
  }
  return ids;
}
