// Polls the registers of Modbus TCP devices.
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import modbus, { type ModbusTCPClient } from "jsmodbus";
import { durationIn } from "../quantities.ts";
import type { SourcePoint } from "../records.ts";
import type { PlantSource, SourceKind, SourceRun } from "../source.ts";
import { type ModbusConfiguration, modbusSchema } from "./modbus-configuration.ts";
import { blocksOf, bytesIn, type RegisterBlock, valueIn } from "./registers.ts";

const reconnectMs = 1_000;
const portDefault = 502;

interface Device {
  readonly unit: number;
  readonly blocks: readonly RegisterBlock[];
}

interface Connection {
  /** The client of a unit. One request is on its way at a time. */
  clientOf(unit: number): ModbusTCPClient;
}

type OpenConnection = Connection & Disposable;

/** The result of one round. */
interface Reading {
  readonly points: SourcePoint[];
  readonly problems: string[];
}

/** A request that the device refused; the connection is good. */
class DeviceRefusal extends Error {}

class ModbusSource implements PlantSource {
  readonly address: string;
  readonly #configuration: ModbusConfiguration;
  readonly #devices: readonly Device[];
  readonly #everyMs: number;
  readonly #timeoutMs: number;

  constructor(configuration: ModbusConfiguration) {
    const { host, port = portDefault, devices, every = "1s", timeout = "2s", integers64 } = configuration;
    this.#configuration = configuration;
    this.address = `modbus://${host}:${port}`;
    this.#devices = devices.map(({ unit, registers }) => ({ unit, blocks: blocksOf(registers, integers64) }));
    this.#everyMs = durationIn(every, "source.every");
    this.#timeoutMs = durationIn(timeout, "source.timeout");
  }

  async check(): Promise<string> {
    using connection = await this.#open();
    let registers = 0;
    for (const device of this.#devices)
      for (const block of device.blocks) registers += (await this.#read(connection, device, block)).length;
    return `${this.address} has the ${registers} values`;
  }

  /**
   * A connection that fails is opened again. Values of the device from the time between cannot be read later.
   */
  async run({ intake, health, signal }: SourceRun): Promise<void> {
    let connection: OpenConnection | undefined;
    for (let nextMs = performance.now() + this.#everyMs; !signal.aborted; nextMs += this.#everyMs) {
      const reading: Reading = { points: [], problems: [] };
      connection = await this.#readAll(connection, reading);
      intake.offer({ points: reading.points });
      if (reading.problems.length > 0) health.problem("source", reading.problems.join("; "));
      else health.solved("source");
      nextMs = Math.max(nextMs, performance.now() + (connection ? 0 : reconnectMs));
      await pause(nextMs - performance.now(), undefined, { signal }).catch(() => {});
    }
    connection?.[Symbol.dispose]();
    await intake.drain();
  }

  /**
   * Reads all devices. One that does not respond must not hide the others of the same gateway: they are
   * read on a new connection. Returns the connection if it is good.
   */
  async #readAll(
    given: OpenConnection | undefined,
    { points, problems }: Reading,
  ): Promise<OpenConnection | undefined> {
    let connection = given;
    for (const device of this.#devices) {
      try {
        connection ??= await this.#open();
      } catch (problem) {
        problems.push((problem as Error).message);
        return undefined;
      }
      try {
        for (const block of device.blocks)
          await this.#read(connection, device, block).then(
            (found) => points.push(...found),
            (problem: unknown) => {
              if (!(problem instanceof DeviceRefusal)) throw problem;
              problems.push(problem.message);
            },
          );
      } catch (problem) {
        problems.push((problem as Error).message);
        connection[Symbol.dispose]();
        connection = undefined;
      }
    }
    return connection;
  }

  async #read(connection: Connection, { unit }: Device, block: RegisterBlock): Promise<SourcePoint[]> {
    const bytes = await bytesOf(connection.clientOf(unit), block).catch((problem: unknown) => {
      throw problemOf(problem as RequestProblem, unit, block);
    });
    if (bytes.length < bytesIn(block))
      throw new DeviceRefusal(`The device sends ${bytes.length} bytes for ${whatOf(unit, block)}`);
    const timestamp = Date.now();
    return block.items.map((item) => ({
      ...{ series: item.series, timestamp, value: valueIn(bytes, block, item) },
    }));
  }

  async #open(): Promise<OpenConnection> {
    const { host, port = portDefault } = this.#configuration;
    const socket = connect({ host, port });
    // The library's clients must see the socket connect.
    const clients = new Map(
      this.#devices.map(({ unit }) => [unit, new modbus.client.TCP(socket, unit, this.#timeoutMs)]),
    );
    try {
      await once(socket, "connect", { signal: AbortSignal.timeout(this.#timeoutMs) });
    } catch (problem) {
      socket.destroy();
      throw new Error(`${this.address} cannot be reached: ${(problem as Error).message}`);
    }
    // A lost connection fails the next request.
    socket.on("error", () => {});
    return { clientOf: (unit) => clients.get(unit)!, [Symbol.dispose]: () => socket.destroy() };
  }
}

const whatOf = (unit: number, { function: name, address, count }: RegisterBlock): string =>
  `${name} registers ${address} to ${address + count - 1} of unit ${unit}`;

/** An error of the library for a request. */
interface RequestProblem {
  readonly err?: string;
  readonly message: string;
  readonly response?: { readonly body?: { readonly message?: string } };
}

function problemOf({ err, message, response }: RequestProblem, unit: number, block: RegisterBlock): Error {
  const what = whatOf(unit, block);
  if (err === "ModbusException")
    return new DeviceRefusal(`The device refuses ${what}: ${response?.body?.message}`);
  return new Error(`The device does not answer to ${what}: ${err ?? message}`);
}

async function bytesOf(
  client: ModbusTCPClient,
  { function: name, address, count }: RegisterBlock,
): Promise<Buffer> {
  const read = {
    holding: () => client.readHoldingRegisters(address, count),
    input: () => client.readInputRegisters(address, count),
    coil: () => client.readCoils(address, count),
    discrete: () => client.readDiscreteInputs(address, count),
  };
  const { response } = await read[name]();
  const { body } = response as { body: { valuesAsBuffer: Buffer } };
  return body.valuesAsBuffer;
}

export const modbusKind: SourceKind = {
  schema: modbusSchema,
  make: (configuration: ModbusConfiguration) => new ModbusSource(configuration),
};
