// A Modbus device in this process, polled by a connector: every type of value, refusals, and lost
// connections.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { after, before, describe, test } from "node:test";
import modbus from "jsmodbus";
import { ConnectedServer, connect, stopped, until } from "../../../test/support/connector.ts";
import { endLeftProcesses } from "../../../test/support/process.ts";
import { blocksOf } from "./registers.ts";

type Json = Readonly<Record<string, unknown>>;

/** The id of a unit that the gateway knows and that never responds. */
const silentUnit = 9;

/** A device with 100 registers and 100 bits of each kind. */
class TestDevice {
  readonly holding = Buffer.alloc(200);
  readonly input = Buffer.alloc(200);
  readonly coils = Buffer.alloc(13);
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  port = 0;

  async start(): Promise<void> {
    const server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on("error", () => {});
      const emit = socket.emit.bind(socket) as (name: string, ...given: unknown[]) => boolean;
      socket.emit = (name: string, ...given: unknown[]) =>
        name === "data" && (given[0] as Buffer)[6] === silentUnit ? true : emit(name, ...given);
    });
    this.#server = server;
    new modbus.server.TCP(server, { holding: this.holding, input: this.input, coils: this.coils });
    server.listen(this.port, "127.0.0.1");
    await once(server, "listening");
    this.port = (server.address() as { port: number }).port;
  }

  async stop(): Promise<void> {
    const closed = once(this.#server!, "close");
    this.#server!.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** The connections stay open, and nothing comes through them any more. */
  hang(): void {
    for (const socket of this.#sockets) socket.pause().removeAllListeners("data");
  }
}

describe("Modbus", () => {
  const device = new TestDevice();
  const server = new ConnectedServer();
  before(async () => {
    await device.start();
    await server.start();
  });
  after(async () => {
    endLeftProcesses();
    await device.stop();
  });

  const configured = (name: string, registers: readonly Json[], more: Json = {}) =>
    server.configured(name, {
      ...{ type: "modbus", host: "127.0.0.1", port: device.port, every: "50ms", timeout: "300ms" },
      ...{ devices: [{ unit: 1, registers }], ...more },
    });
  const latestOf = async (...names: string[]) => {
    const found = await server.items("POST", "timeseries/latest", { items: names.map((name) => ({ name })) });
    return found.map(({ datapoints }) => (datapoints as { value: number | string }[])[0]?.value);
  };

  test("values of every type, both orders of registers, bits and scales", async () => {
    device.holding.writeInt16BE(-2, 0);
    device.holding.writeUInt16BE(65_535, 2);
    device.holding.writeInt32BE(-70_000, 4);
    device.holding.writeUInt32BE(4_000_000_000, 8);
    device.holding.writeFloatBE(1.5, 12);
    device.holding.writeDoubleBE(-2.25, 16);
    device.holding.writeBigInt64BE(-5n, 24);
    Buffer.from([0x00, 0x02, 0x00, 0x01]).copy(device.holding, 32);
    device.holding.writeUInt16BE(0b1000, 36);
    device.input.writeInt16BE(215, 20);
    device.coils[1] = 0b10;
    const expected: readonly (readonly [register: Json, value: number])[] = [
      [{ address: 0, type: "int16" }, -2],
      [{ address: 1 }, 65_535],
      [{ address: 2, type: "int32" }, -70_000],
      [{ address: 4, type: "uint32" }, 4_000_000_000],
      [{ address: 6, type: "float32" }, 1.5],
      [{ address: 8, type: "float64" }, -2.25],
      [{ address: 12, type: "int64" }, -5],
      [{ address: 16, type: "uint32", lowWordFirst: true }, 65_538],
      [{ address: 18, type: "bit", bit: 3 }, 1],
      [{ address: 18, type: "bit", bit: 2 }, 0],
      [{ function: "input", address: 10, type: "int16", scale: 0.1, offset: -1, unit: "degC" }, 20.5],
      [{ function: "coil", address: 9 }, 1],
      [{ function: "coil", address: 8 }, 0],
    ];
    const names = expected.map((_, i) => `m${i}`);
    const file = configured(
      "types",
      expected.map(([register], i) => ({ ...register, series: names[i] })),
    );
    assert.match((await connect(file, "check").ended).output, /ok +source: modbus:.* has the 13 values/);
    const connector = connect(file);
    await until(async () => (await server.countOf("types/m12")) > 1, "two points");
    await stopped(connector);
    const values = await latestOf(...names.map((name) => `types/${name}`));
    assert.deepEqual(
      values,
      expected.map(([, value]) => value),
    );
    const [series] = await server.items("GET", "timeseries?name=types/m10");
    assert.deepEqual([series!["unit"], series!["isStep"]], ["degC", false]);
  });

  test("integers of 64 bits that no number holds are refused, rounded or strings", async () => {
    device.holding.writeBigUInt64BE(9_007_199_254_740_993n, 160);
    const wide = { series: "wide", address: 80, type: "uint64" };
    const registers = [wide, { ...wide, series: "scaled", scale: 0.5 }];
    const files = ["exact", "rounded", "string"].map((integers64) =>
      configured(integers64, registers, { integers64 }),
    );
    const connectors = files.map((file) => connect(file));
    for (const name of ["exact/scaled", "rounded/wide", "string/wide"]) {
      await until(async () => (await server.items("GET", `timeseries?name=${name}`)).length > 0, name);
      await until(async () => (await latestOf(name))[0] !== undefined, `a value of ${name}`);
    }
    const refusal = /A point of wide is 9007199254740993, an integer that no number holds exactly/;
    await until(() => refusal.test(connectors[0]!.output()), "the refusal");
    await Promise.all(connectors.map(stopped));
    assert.deepEqual(await latestOf("exact/scaled", "rounded/wide", "string/wide"), [
      ...[2 ** 52, 2 ** 53, "9007199254740993"],
    ]);
    assert.equal(await server.countOf("exact/wide"), 0);
    const [report] = await server.items("GET", "connectors?name=exact");
    assert.ok(Number((report!["counts"] as Json)["refused"]) > 0);
  });

  test("the device's refusals are shown, and the other registers are read", async () => {
    const good = { series: "good", address: 1 };
    const connector = connect(configured("partly", [good, { series: "bad", address: 60_000 }]));
    await until(async () => (await server.countOf("partly/good")) > 0, "the good one");
    const refusal = /The device (refuses|sends 0 bytes for) holding registers 60000 to 60000 of unit 1/;
    await until(() => refusal.test(connector.output()), "the refusal");
    await stopped(connector);
  });

  test("a unit that never responds does not hide the others", async () => {
    const unitOf = (unit: number) => ({ unit, registers: [{ series: `u${unit}`, address: 1 }] });
    const connector = connect(configured("units", [], { devices: [silentUnit, 1, 2].map(unitOf) }));
    for (const name of ["units/u1", "units/u2"])
      await until(async () => (await server.countOf(name)) > 1, `two points of ${name}`);
    const silent = /does not answer to holding registers 1 to 1 of unit 9/;
    await until(() => silent.test(connector.output()), "the silent unit");
    await stopped(connector);
    assert.equal(await server.countOf("units/u9"), 0);
  });

  test("a device that hangs, or is away, is read again when it is back", async () => {
    const connector = connect(configured("lost", [{ series: "m", address: 1 }]));
    await until(async () => (await server.countOf("lost/m")) > 0, "the first point");
    device.hang();
    await until(() => connector.output().includes("does not answer"), "the time-out");
    const before = await server.countOf("lost/m");
    await until(async () => (await server.countOf("lost/m")) > before, "points on a new connection");
    await device.stop();
    await pauseUntilAway(connector);
    await device.start();
    const away = await server.countOf("lost/m");
    await until(async () => (await server.countOf("lost/m")) > away + 1, "points after the return");
    await stopped(connector);
  });

  const pauseUntilAway = (connector: { output(): string }) =>
    until(async () => {
      const [report] = await server.items("GET", "connectors?name=lost");
      return report?.["status"] === "DEGRADED" || connector.output().includes("cannot be reached");
    }, "the problem");

  test("neighbours share a request, up to the length of one", () => {
    const registers = Array.from({ length: 200 }, (_, address) => ({ series: `${address}`, address }));
    const shape = (some: Parameters<typeof blocksOf>[0]) =>
      blocksOf(some).map(({ address, count }) => [address, count]);
    assert.deepEqual(shape(registers), [
      [0, 125],
      [125, 75],
    ]);
    assert.deepEqual(
      shape([
        { series: "b", address: 7 },
        { series: "a", address: 5, type: "float32" },
        { series: "c", address: 9 },
      ]),
      [
        [5, 3],
        [9, 1],
      ],
    );
    const wrong = { series: "x", address: 65_535, type: "float32" } as const;
    assert.throws(() => blocksOf([wrong]), /x ends beyond the last register/);
    assert.throws(() => blocksOf([{ series: "x", address: 1, type: "bit" }]), /needs both the type bit/);
  });
});
