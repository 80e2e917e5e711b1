// Follows Sparkplug edge nodes: births, aliases, data, gaps in the sequence, deaths.
import { exactInteger, type WayOfIntegers } from "../integers.ts";
import type { SeriesDescription, SourceEvent, SourcePoint } from "../records.ts";
import { fillTemplate, requireKnownNames } from "../template.ts";
import {
  decodeSparkplug,
  metricValue,
  type SparkplugMetric,
  type SparkplugPayload,
} from "./sparkplug-payload.ts";

export interface SparkplugRecords {
  readonly points: readonly SourcePoint[];
  readonly events: readonly SourceEvent[];
  /** The topic to request a new birth from, because the state of the node is not known. */
  readonly rebirth?: string;
  /** Values that cannot be read, because no birth described them. */
  readonly unborn?: number;
}

/** The topic `spBv1.0/{group}/{type}/{node}/{device}`. */
interface Address {
  readonly group: string;
  readonly type: string;
  readonly node: string;
  readonly device: string;
}

/** A metric as its birth described it. */
interface BornMetric {
  readonly series: SeriesDescription;
  readonly type: number | undefined;
}

/** The metrics and aliases of the last birth of a node. */
interface Node {
  /** By device and name, and by device and alias. */
  readonly metrics: Map<string, BornMetric>;
  sequence: number;
  birthSequence: number | undefined;
}

/** Types of strings: String, Text, UUID. DateTime has a number. */
const textTypes: ReadonlySet<number> = new Set([12, 14, 15]);
/** Int64 and UInt64. */
const wideTypes: ReadonlySet<number> = new Set([4, 8]);
const booleanType = 11;
const nothing = { points: [], events: [] } as const;

const nameParts = ["group", "node", "device", "metric"];

export class SparkplugNodes {
  readonly #template: string;
  readonly #integers64: WayOfIntegers;
  readonly #nodes = new Map<string, Node>();
  readonly #series = new Map<string, SeriesDescription>();

  constructor(template = "{group}/{node}/{device}/{metric}", integers64: WayOfIntegers = "exact") {
    requireKnownNames(template, (name) => nameParts.includes(name), "{group}, {node}, {device} and {metric}");
    this.#template = template;
    this.#integers64 = integers64;
  }

  /** The records of a message. Throws a `RangeError` if the payload is not one of Sparkplug. */
  read(levels: readonly string[], payload: Uint8Array, nowMs: number): SparkplugRecords {
    const [, group = "", type = "", node = "", device = ""] = levels;
    if (group === "STATE" || !/^[ND](BIRTH|DATA|DEATH)$/.test(type)) return nothing;
    const address = { group, type, node, device };
    const decoded = decodeSparkplug(payload);
    if (type.endsWith("DEATH")) return this.#death(address, decoded, nowMs);
    return type.endsWith("BIRTH")
      ? this.#birth(address, decoded, nowMs)
      : this.#data(address, decoded, nowMs);
  }

  #birth(address: Address, payload: SparkplugPayload, nowMs: number): SparkplugRecords {
    const { group, node, device, type } = address;
    const key = `${group}/${node}`;
    if (type === "NBIRTH") {
      const bdSeq = birthSequenceIn(payload);
      const birthSequence = typeof bdSeq === "number" ? bdSeq : undefined;
      this.#nodes.set(key, { metrics: new Map(), sequence: payload.sequence ?? 0, birthSequence });
    }
    const known = this.#nodes.get(key);
    if (!known) return { ...nothing, rebirth: rebirthTopic(address) };
    const isGap = type === "DBIRTH" && !follows(known, payload);
    for (const metric of payload.metrics) {
      if (metric.name === undefined || metric.name === "bdSeq") continue;
      const born = { series: this.#seriesOf(address, metric), type: metric.type };
      known.metrics.set(`${device}\0${metric.name}`, born);
      if (metric.alias !== undefined) known.metrics.set(`${device}\0#${metric.alias}`, born);
    }
    const points = this.#pointsOf(known, address, payload, nowMs).points;
    return { points, events: [], ...(isGap && { rebirth: rebirthTopic(address) }) };
  }

  #data(address: Address, payload: SparkplugPayload, nowMs: number): SparkplugRecords {
    const known = this.#nodes.get(`${address.group}/${address.node}`);
    if (!known) return { ...nothing, rebirth: rebirthTopic(address), unborn: payload.metrics.length };
    const isGap = !follows(known, payload);
    const { points, unborn } = this.#pointsOf(known, address, payload, nowMs);
    return { points, events: [], ...((isGap || unborn > 0) && { rebirth: rebirthTopic(address), unborn }) };
  }

  /** The death of an earlier birth is late, and says nothing of the node that lives. */
  #death(address: Address, payload: SparkplugPayload, nowMs: number): SparkplugRecords {
    const { group, node, device, type } = address;
    const key = `${group}/${node}`;
    const bdSeq = birthSequenceIn(payload);
    const known = this.#nodes.get(key);
    const birth = known?.birthSequence;
    // Only the death of a device is one of the numbered messages of its node.
    const isGap = type === "DDEATH" && known !== undefined && !follows(known, payload);
    if (type === "NDEATH" && birth !== undefined && bdSeq !== undefined && bdSeq !== birth) return nothing;
    if (type === "NDEATH") this.#nodes.delete(key);
    const what = type === "NDEATH" ? `The edge node ${key}` : `The device ${key}/${device}`;
    // The death of a node is the will of its connection, made when that began.
    const startTime = type === "NDEATH" ? nowMs : (payload.timestamp ?? nowMs);
    const id = payload.timestamp ?? nowMs;
    const event: SourceEvent = {
      sourceId: `${type}:${key}/${device}:${id}${bdSeq === undefined ? "" : `:${bdSeq}`}`,
      ...{ type: "sparkplug", subtype: type, startTime },
      description: `${what} went offline; its values are stale from here on`,
      metadata: { group, node, ...(device !== "" && { device }) },
    };
    return { points: [], events: [event], ...(isGap && { rebirth: rebirthTopic(address) }) };
  }

  #pointsOf(known: Node, { device }: Address, payload: SparkplugPayload, nowMs: number) {
    const points: SourcePoint[] = [];
    let unborn = 0;
    for (const metric of payload.metrics) {
      const { name, alias } = metric;
      if (name === "bdSeq") continue;
      const born = known.metrics.get(`${device}\0${name ?? `#${alias}`}`);
      if (!born) {
        unborn += 1;
        continue;
      }
      const { series, type } = born;
      const value = metricValue(metric, type);
      if (value !== undefined) {
        const plain = this.#plainOf(value, series);
        if ((typeof plain === "string") === (series.isString === true))
          points.push({ series, timestamp: metric.timestamp ?? payload.timestamp ?? nowMs, value: plain });
      }
    }
    return { points, unborn };
  }

  #plainOf(value: number | string | bigint, { isString = false }: SeriesDescription) {
    if (this.#integers64 === "string" && isString) return String(value);
    return typeof value === "bigint" ? exactInteger(value, this.#integers64) : value;
  }

  #isText = (type: number): boolean =>
    textTypes.has(type) || (this.#integers64 === "string" && wideTypes.has(type));

  #seriesOf({ group, node, device }: Address, metric: SparkplugMetric): SeriesDescription {
    const values = { group, node, device, metric: metric.name! };
    const name = fillTemplate(this.#template, [], values).replaceAll(/\/{2,}/g, "/");
    const unit = metric.properties["engUnit"] ?? metric.properties["Engineering Units"];
    const description: SeriesDescription = {
      name,
      ...(metric.type !== undefined && this.#isText(metric.type) && { isString: true }),
      ...(metric.type === booleanType && { isStep: true }),
      ...(unit !== undefined && { unit }),
      metadata: { ...metric.properties, group, node, ...(device !== "" && { device }), metric: metric.name! },
      assetPath: [group, node, ...(device === "" ? [] : [device])],
    };
    const before = this.#series.get(name);
    if (before && JSON.stringify(before) === JSON.stringify(description)) return before;
    this.#series.set(name, description);
    return description;
  }
}

function birthSequenceIn({ metrics }: SparkplugPayload) {
  const metric = metrics.find(({ name }) => name === "bdSeq");
  return metric && metricValue(metric);
}

const rebirthTopic = ({ group, node }: Address) => `spBv1.0/${group}/NCMD/${node}`;

/** Whether the message is the next one of its node. Remembers its number. */
function follows(known: Node, { sequence }: SparkplugPayload): boolean {
  if (sequence === undefined) return true;
  const isNext = sequence === (known.sequence + 1) % 256;
  known.sequence = sequence;
  return isNext;
}

/** The payload of the command `Node Control/Rebirth`. */
export function rebirthPayload(nowMs: number): Buffer {
  const name = Buffer.from("Node Control/Rebirth");
  const metric = Buffer.from([0x0a, name.length, ...name, 0x20, booleanType, 0x70, 1]);
  return Buffer.from([0x08, ...varint(BigInt(nowMs)), 0x12, metric.length, ...metric]);
}

function varint(value: bigint): number[] {
  const bytes: number[] = [];
  for (let left = value; ; left >>= 7n) {
    if (left < 0x80n) return [...bytes, Number(left)];
    bytes.push(Number(left & 0x7fn) | 0x80);
  }
}

/** Bounds the commands to one node: it sends on until it takes the first one. */
export class RebirthLimit {
  readonly #everyMs: number;
  readonly #requestedMs = new Map<string, number>();

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  /** Whether the command may be sent now, by a clock that is never stepped. */
  take(topic: string, steadyMs: number): boolean {
    const sinceMs = steadyMs - (this.#requestedMs.get(topic) ?? Number.NEGATIVE_INFINITY);
    if (sinceMs < this.#everyMs) return false;
    this.#requestedMs.set(topic, steadyMs);
    return true;
  }
}
