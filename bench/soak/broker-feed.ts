// Messages of an MQTT broker, which a connector brings to the server. Connector and broker are stopped too.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { MqttClient } from "mqtt";
import { type Broker, startMosquitto } from "../../test/support/mosquitto.ts";
import { type RunningProcess, runMillrace } from "../../test/support/process.ts";
import { memoryMb } from "../process.ts";
import { administratorKey } from "../systems/millrace.ts";
import { project, type SoakClient } from "./client.ts";
import { datapointsOf } from "./readers.ts";
import type { Point } from "./signals.ts";

const topics = 20;
const betweenMs = 50;
const flushSecondsMax = 300;

export class BrokerFeed {
  readonly #folder: string;
  readonly #file: string;
  readonly #broker: Broker;
  readonly #publisher: MqttClient;
  #connector: RunningProcess;
  /** The messages that the broker has accepted, by topic. */
  readonly #published: Point[][] = Array.from({ length: topics }, () => []);

  private constructor(folder: string, file: string, broker: Broker, publisher: MqttClient) {
    this.#folder = folder;
    this.#file = file;
    this.#broker = broker;
    this.#publisher = publisher;
    this.#connector = this.#connect();
  }

  static async start(folder: string, baseUrl: string): Promise<BrokerFeed> {
    const broker = await startMosquitto();
    const file = join(folder, "broker.yaml");
    const map = '{"series": "broker." & $levels[1], "value": v, "timestamp": t}';
    const content = {
      ...{ version: 1, name: "broker" },
      source: { type: "mqtt", url: broker.url, read: [{ topic: "plant/+", format: "json", map }] },
      destination: { server: baseUrl, key: administratorKey },
    };
    writeFileSync(file, JSON.stringify(content));
    const feed = new BrokerFeed(folder, file, broker, await broker.client());
    // The broker keeps messages for the connector from here on.
    while (!feed.#connector.output().includes("Subscribed")) await pause(20);
    return feed;
  }

  get messages(): number {
    return this.#published.reduce((sum, { length }) => sum + length, 0);
  }

  get memoryMb(): number {
    return memoryMb({ child: this.#connector.child, folder: this.#folder });
  }

  async run(ending: AbortSignal): Promise<void> {
    for (let value = 0, last = 0; !ending.aborted; value++) {
      const timestamp = Math.max(Date.now(), last + 1);
      last = timestamp;
      const payload = JSON.stringify({ t: timestamp, v: value });
      await this.#publisher.publishAsync(`plant/s${value % topics}`, payload, { qos: 1 });
      this.#published[value % topics]!.push({ timestamp, value });
      await pause(betweenMs);
    }
  }

  /** Ends the connector at once, and starts it again. */
  async killConnector(): Promise<void> {
    this.#connector.child.kill("SIGKILL");
    await this.#connector.ended;
    this.#connector = this.#connect();
  }

  async restartBroker(): Promise<void> {
    await this.#broker.stop();
    await this.#broker.start();
  }

  /** Waits until the messages are stored, and compares them. */
  async check(client: SoakClient): Promise<void> {
    for (const [topic, expected] of this.#published.entries()) {
      const name = `broker.s${topic}`;
      let found: readonly Point[] = [];
      for (let second = 0; second < flushSecondsMax && found.length < expected.length; second++) {
        if (second > 0) await pause(1_000);
        found = await pointsOfSeries(client, name);
      }
      client.compare(`messages of ${name}`, found, expected);
    }
  }

  async stop(): Promise<void> {
    this.#connector.child.kill("SIGINT");
    await this.#connector.ended;
    await this.#publisher.endAsync();
    await this.#broker.stop();
  }

  #connect(): RunningProcess {
    return runMillrace(["connect", this.#file], {}, this.#folder);
  }
}

/** All points of a series, by pages. */
async function pointsOfSeries(client: SoakClient, name: string): Promise<Point[]> {
  const found: Point[] = [];
  for (let start = 0; ; ) {
    const path = `${project}/timeseries/data/${name}?start=${start}&end=${Date.now() + 60_000}&limit=10000`;
    const page = datapointsOf((await client.send("check", "GET", path)) ?? '{"data":{"items":[]}}');
    found.push(...page);
    if (page.length < 10_000) return found;
    start = page.at(-1)!.timestamp + 1;
  }
}
