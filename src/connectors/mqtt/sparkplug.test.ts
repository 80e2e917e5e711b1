// Sparkplug messages written by another protobuf library: births, aliases, gaps, deaths, every type of value.
import assert from "node:assert/strict";
import { test } from "node:test";
import { PbfWriter } from "pbf";
import { RebirthLimit, rebirthPayload, SparkplugNodes } from "./sparkplug.ts";
import { decodeSparkplug, metricValue } from "./sparkplug-payload.ts";

interface Metric {
  readonly name?: string;
  readonly alias?: number;
  readonly timestamp?: number;
  readonly type?: number;
  readonly isHistorical?: boolean;
  readonly isNull?: boolean;
  readonly unit?: string;
  /** The field of the value, and how it is written. */
  readonly value?: (writer: PbfWriter) => void;
}

const double = (value: number) => (writer: PbfWriter) => writer.writeDoubleField(13, value);

function payload(metrics: readonly Metric[], sequence?: number, timestamp = 1_700_000_000_000): Uint8Array {
  const writer = new PbfWriter();
  writer.writeVarintField(1, timestamp);
  for (const metric of metrics) writer.writeMessage(2, writeMetric, metric);
  if (sequence !== undefined) writer.writeVarintField(3, sequence);
  return writer.finish();
}

function writeMetric(metric: Metric, writer: PbfWriter): void {
  const { name, alias, timestamp, type, isHistorical, isNull, unit, value } = metric;
  if (name !== undefined) writer.writeStringField(1, name);
  if (alias !== undefined) writer.writeVarintField(2, alias);
  if (timestamp !== undefined) writer.writeVarintField(3, timestamp);
  if (type !== undefined) writer.writeVarintField(4, type);
  if (isHistorical) writer.writeBooleanField(5, true);
  if (isNull) writer.writeBooleanField(7, true);
  if (unit !== undefined)
    writer.writeMessage(
      9,
      (text: string, set) => {
        set.writeStringField(1, "engUnit");
        set.writeMessage(
          2,
          (property: string, inner) => {
            inner.writeVarintField(1, 12);
            inner.writeStringField(8, property);
          },
          text,
        );
      },
      unit,
    );
  value?.(writer);
}

const at = (type: string, device = "") => ["spBv1.0", "plant", type, "edge", ...(device ? [device] : [])];
const birth = (sequence = 0, bdSeq = 1, more: readonly Metric[] = []) =>
  payload([{ name: "bdSeq", type: 4, value: (w) => w.writeVarintField(11, bdSeq) }, ...more], sequence);

test("values of every type are read, with sign and precision", () => {
  const values: readonly (readonly [type: number, write: (w: PbfWriter) => void, expected: unknown])[] = [
    [1, (w) => w.writeVarintField(10, 0xff), -1],
    [2, (w) => w.writeVarintField(10, 0x8000), -32_768],
    [3, (w) => w.writeVarintField(10, 0xffff_fffe), -2],
    [4, (w) => w.writeVarintField(11, -5), -5],
    [5, (w) => w.writeVarintField(10, 255), 255],
    [7, (w) => w.writeVarintField(10, 4_294_967_295), 4_294_967_295],
    [8, (w) => w.writeVarintField(11, 9_007_199_254_740_991), 9_007_199_254_740_991],
    [9, (w) => w.writeFloatField(12, 1.5), 1.5],
    [10, double(-1e-300), -1e-300],
    [11, (w) => w.writeBooleanField(14, true), 1],
    [12, (w) => w.writeStringField(15, "läuft"), "läuft"],
    [13, (w) => w.writeVarintField(11, 1_700_000_000_001), 1_700_000_000_001],
  ];
  const { metrics, sequence, timestamp } = decodeSparkplug(
    payload(
      values.map(([type, value]) => ({ name: "m", type, value })),
      7,
    ),
  );
  assert.deepEqual(
    metrics.map((metric) => metricValue(metric)),
    values.map(([, , expected]) => expected),
  );
  assert.deepEqual([sequence, timestamp], [7, 1_700_000_000_000]);
  const [none] = decodeSparkplug(payload([{ name: "m", type: 10, isNull: true, value: double(1) }])).metrics;
  assert.deepEqual([none!.isNull, metricValue(none!)], [true, undefined]);
});

test("data without a type has the type of its birth, by name and by alias", () => {
  // Int8 to Int64, and UInt32 with the bits of a negative Int32.
  const cases = [
    { type: 1, field: 10, sent: 0xfb, value: -5 },
    { type: 1, field: 10, sent: 0xffff_fffb, value: -5 },
    { type: 2, field: 10, sent: 0xfffb, value: -5 },
    { type: 3, field: 10, sent: 0xffff_fffb, value: -5 },
    { type: 4, field: 11, sent: -5, value: -5 },
    { type: 7, field: 10, sent: 0xffff_fffb, value: 0xffff_fffb },
  ];
  for (const integers64 of ["exact", "rounded", "string"] as const)
    for (const { type, field, sent, value } of cases) {
      const nodes = new SparkplugNodes("{metric}", integers64);
      const write = (integer: number) => (w: PbfWriter) => w.writeVarintField(field, integer);
      nodes.read(at("NBIRTH"), birth(0, 1, [{ name: "m", alias: 1, type, value: write(1) }]), 0);
      const data = payload(
        [
          { alias: 1, value: write(sent) },
          { name: "m", value: write(sent) },
        ],
        1,
      );
      const values = nodes.read(at("NDATA"), data, 0).points.map((point) => point.value);
      const expected = integers64 === "string" && type === 4 ? String(value) : value;
      assert.deepEqual(values, [expected, expected], `type ${type}, ${integers64}`);
    }
});

test("integers of 64 bits are exact, rounded or strings", () => {
  // The writer writes -5 with the bits of 2^64 - 5.
  const wide = (value: number) => ({
    ...{ name: "m", alias: 1, type: 8, value: (w: PbfWriter) => w.writeVarintField(11, value) },
  });
  const read = (integers64: "exact" | "rounded" | "string") => {
    const nodes = new SparkplugNodes("{metric}", integers64);
    nodes.read(at("NBIRTH"), birth(0, 1, [wide(5)]), 0);
    return nodes.read(at("NDATA"), payload([wide(-5), wide(7)], 1), 0).points;
  };
  const values = (["exact", "rounded", "string"] as const).map((way) => read(way).map(({ value }) => value));
  assert.deepEqual(values, [
    [2n ** 64n - 5n, 7],
    [2 ** 64, 7],
    ["18446744073709551611", "7"],
  ]);
  assert.equal(read("string")[0]!.series.isString, true);
});

test("a node is told once in a while to send its birth, however many messages it sends", () => {
  const limit = new RebirthLimit(5_000);
  const taken = Array.from({ length: 1_001 }, (_, i) => limit.take("a", 10 * i)).filter(Boolean).length;
  assert.equal(taken, 3, "at 0, 5 and 10 s");
  assert.equal(limit.take("b", 10_000), true, "another node");
});

test("bytes that are no payload are refused", () => {
  const whole = payload([{ name: "temperature", type: 10, value: double(1) }], 3);
  assert.throws(() => decodeSparkplug(whole.subarray(0, whole.length - 9)), RangeError);
  assert.throws(() => decodeSparkplug(Buffer.from("not protobuf")), RangeError);
});

test("a birth names series, and data by alias is theirs", () => {
  const nodes = new SparkplugNodes();
  const metric = { name: "in/temperature", alias: 4, type: 10, unit: "degC", value: double(20) };
  nodes.read(at("NBIRTH"), birth(), 0);
  const born = nodes.read(at("DBIRTH", "pump"), payload([metric], 1), 0);
  const series = born.points[0]!.series;
  assert.equal(series.name, "plant/edge/pump/in/temperature");
  assert.deepEqual([series.unit, series.assetPath], ["degC", ["plant", "edge", "pump"]]);
  const data = nodes.read(
    at("DDATA", "pump"),
    payload([{ alias: 4, timestamp: 5, isHistorical: true, value: double(21) }], 2),
    0,
  );
  assert.deepEqual(data, { points: [{ series, timestamp: 5, value: 21 }], events: [] });
});

test("unknown nodes, unknown aliases and gaps in the sequence ask for a birth; good values are kept", () => {
  const nodes = new SparkplugNodes("{metric}");
  const data = (sequence: number, alias = 1) => payload([{ alias, value: double(sequence) }], sequence);
  const rebirth = "spBv1.0/plant/NCMD/edge";
  const early = nodes.read(at("NDATA"), data(0), 0);
  assert.deepEqual([early.rebirth, early.points.length, early.unborn], [rebirth, 0, 1]);
  nodes.read(at("NBIRTH"), birth(254, 1, [{ name: "m", alias: 1, type: 10, value: double(0) }]), 0);
  assert.equal(nodes.read(at("NDATA"), data(255), 0).rebirth, undefined);
  assert.equal(nodes.read(at("NDATA"), data(0), 0).rebirth, undefined);
  const gap = nodes.read(at("NDATA"), data(2), 0);
  assert.deepEqual([gap.rebirth, gap.points.length], [rebirth, 1]);
  assert.equal(nodes.read(at("NDATA"), data(3), 0).rebirth, undefined);
  const unknown = nodes.read(at("NDATA"), data(4, 9), 0);
  assert.deepEqual([unknown.rebirth, unknown.unborn], [rebirth, 1]);
});

test("a death is an event once, and one of an earlier birth is ignored", () => {
  const nodes = new SparkplugNodes();
  const death = (bdSeq: number) =>
    payload([{ name: "bdSeq", type: 4, value: (w) => w.writeVarintField(11, bdSeq) }]);
  nodes.read(at("NBIRTH"), birth(0, 2), 0);
  assert.deepEqual(nodes.read(at("NDEATH"), death(1), 0).events, []);
  const [event] = nodes.read(at("NDEATH"), death(2), 1_700_000_000_009).events;
  // The payload has the time at which the node connected.
  assert.deepEqual([event!.subtype, event!.startTime], ["NDEATH", 1_700_000_000_009]);
  const [again] = nodes.read(at("NDEATH"), death(2), 1_700_000_000_019).events;
  assert.equal(again!.sourceId, event!.sourceId);
  assert.match(event!.description!, /^The edge node plant\/edge went offline/);
  assert.equal(nodes.read(at("NDATA"), payload([], 1), 0).rebirth, "spBv1.0/plant/NCMD/edge");
});

test("the death of a device has its place in the sequence of its node", () => {
  const nodes = new SparkplugNodes();
  nodes.read(at("NBIRTH"), birth(0), 0);
  nodes.read(at("DBIRTH", "pump"), payload([], 1), 0);
  const death = nodes.read(at("DDEATH", "pump"), payload([], 2), 0);
  assert.deepEqual([death.events.length, death.rebirth], [1, undefined]);
  assert.equal(nodes.read(at("NDATA"), payload([], 3), 0).rebirth, undefined);
  const late = nodes.read(at("DDEATH", "pump"), payload([], 5), 0);
  assert.deepEqual([late.events.length, late.rebirth], [1, "spBv1.0/plant/NCMD/edge"]);
});

test("the command for a birth is a payload that edge nodes read", () => {
  const { metrics, timestamp } = decodeSparkplug(rebirthPayload(1_700_000_000_123));
  assert.equal(timestamp, 1_700_000_000_123);
  assert.deepEqual(
    metrics.map((metric) => [metric.name, metric.type, metricValue(metric)]),
    [["Node Control/Rebirth", 11, 1]],
  );
});
