// An OPC UA server for tests, run as a process of its own: `fork(file, [JSON of ServerOptions])`. It is
// in the folder of the connector, whose packages it imports.
import { fileURLToPath } from "node:url";
import { parseJson } from "../../lib/json.ts";

export interface ServerOptions {
  readonly port: number;
  /** Namespaces that are registered before that of the plant, which changes its index. */
  readonly namespacesBefore?: readonly string[];
  readonly folder: string;
  /** How many variables change each second, beside those of the boiler. */
  readonly load?: number;
  readonly refusesUnknownClients?: boolean;
}

/** A command by message; the response has its result. */
export type ServerCommand =
  | { readonly do: "set"; readonly name: string; readonly value: unknown; readonly status?: string }
  | { readonly do: "tick"; readonly everyMs: number }
  | { readonly do: "add"; readonly name: string }
  /** Stops the subscriptions silently: it publishes nothing more and reports no error. */
  | { readonly do: "silence" }
  /** The next reads of the history of the temperature are refused. */
  | { readonly do: "refuse history"; readonly times: number }
  | { readonly do: "written" };

export const plantNamespace = "urn:plant";

/** The values that `tick` wrote: time in ms and value. */
export type Written = [timeMs: number, value: number][];

interface Node {
  historyRead(...given: unknown[]): Promise<{ statusCode: object }>;
  setValueFromSource(value: object, status?: object, time?: Date): void;
}

interface Space {
  readonly rootFolder: { readonly objects: object };
  registerNamespace(uri: string): Namespace;
  installHistoricalDataNode(node: object, options: object): void;
}

interface Namespace {
  addFolder(parent: object, options: object): object;
  addVariable(options: object): Node;
  addAnalogDataItem(options: object): Node;
  addEnumerationType(options: object): object;
}

interface Names {
  readonly DataType: Readonly<Record<string, number>>;
  readonly StatusCodes: Readonly<Record<string, object>>;
}

interface PublishingSession {
  readonly publishEngine: object;
}

async function serve(options: ServerOptions): Promise<void> {
  const names = ["node-opcua-server", "node-opcua-client", "node-opcua-certificate-manager"];
  const [{ OPCUAServer }, { DataType, StatusCodes, setWarningLogger }, { OPCUACertificateManager }] =
    await Promise.all(names.map((name) => import(name)));
  setWarningLogger(() => {});
  const serverCertificateManager = new OPCUACertificateManager({
    ...{ rootFolder: `${options.folder}/pki`, disableFileWatchers: true },
    automaticallyAcceptUnknownCertificate: !options.refusesUnknownClients,
  });
  await serverCertificateManager.initialize();
  const server = new OPCUAServer({
    ...{ port: options.port, host: "127.0.0.1", hostname: "127.0.0.1", serverCertificateManager },
    serverCapabilities: { operationLimits: { maxMonitoredItemsPerCall: 700 }, minSupportedSampleRate: 50 },
    userManager: { isValidUser: (name: string, password: string) => name === "u" && password === "p" },
  });
  await server.initialize();
  const space = server.engine.addressSpace as Space;
  for (const uri of options.namespacesBefore ?? []) space.registerNamespace(uri);
  const boiler = new Boiler(space, { DataType, StatusCodes });
  boiler.load(options.load ?? 0);
  const silence = () => {
    for (const { publishEngine } of Object.values(server.engine._sessions) as PublishingSession[])
      Object.assign(publishEngine, { _publish_request_queue: [], _on_PublishRequest: () => {} });
  };
  process.on("message", ({ id, command }: { id: number; command: ServerCommand }) => {
    const result = command.do === "silence" ? silence() : boiler.do(command);
    process.send!({ id, result });
  });
  process.on("disconnect", () => process.exit(0));
  await server.start();
  process.send!({ ready: true });
}

/** The variables of the tests. */
class Boiler {
  readonly #names: Names;
  readonly #space: Space;
  readonly #namespace: Namespace;
  readonly #plant: object;
  readonly #folder: object;
  readonly #variables = new Map<string, { node: Node; dataType: number }>();
  readonly #written: Written = [];
  #ticks: NodeJS.Timeout | undefined;

  constructor(space: Space, names: Names) {
    this.#space = space;
    this.#names = names;
    this.#namespace = space.registerNamespace(plantNamespace);
    this.#plant = this.#namespace.addFolder(space.rootFolder.objects, { browseName: "Plant" });
    this.#folder = this.#namespace.addFolder(this.#plant, { browseName: "Boiler" });
    this.#addTemperature();
    this.#addOthers();
  }

  do(command: Exclude<ServerCommand, { do: "silence" }>): unknown {
    switch (command.do) {
      case "set":
        return this.#set(command.name, command.value, command.status);
      case "tick":
        return this.#tick(command.everyMs);
      case "add":
        return this.#add(command.name, "Double", 0);
      case "refuse history":
        return this.#refuseHistory(command.times);
      case "written":
        return this.#written;
    }
  }

  /** Variables that change together each second. */
  load(count: number): void {
    if (count === 0) return;
    const { DataType, StatusCodes } = this.#names;
    const folder = this.#namespace.addFolder(this.#plant, { browseName: "Load" });
    const nodes = Array.from({ length: count }, (_, i) =>
      this.#namespace.addVariable({
        ...{ componentOf: folder, browseName: `V${i}`, nodeId: `s=V${i}`, dataType: "Double" },
        ...{ value: { dataType: DataType["Double"], value: 0 }, minimumSamplingInterval: 0 },
      }),
    );
    let value = 0;
    setInterval(() => {
      value += 1;
      const time = new Date();
      for (const node of nodes)
        node.setValueFromSource({ dataType: DataType["Double"], value }, StatusCodes["Good"], time);
    }, 1_000);
  }

  #addTemperature(): void {
    const dataType = this.#names.DataType["Double"]!;
    const node = this.#namespace.addAnalogDataItem({
      ...{
        componentOf: this.#folder,
        browseName: "Temperature",
        nodeId: "s=Temperature",
        dataType: "Double",
      },
      ...{ engineeringUnitsRange: { low: 0, high: 1e9 }, description: "Of the water" },
      engineeringUnits: { displayName: { text: "degC" }, namespaceUri: "u", unitId: 1 },
      ...{ value: { dataType, value: 0 }, minimumSamplingInterval: 50 },
    });
    this.#variables.set("Temperature", { node, dataType });
    this.#space.installHistoricalDataNode(node, { maxOnlineValues: 100_000 });
  }

  #addOthers(): void {
    const { DataType } = this.#names;
    const state = this.#namespace.addEnumerationType({
      ...{ browseName: "BoilerState", enumeration: ["Idle", "Heating"] },
    });
    this.#add("Running", "Boolean", true);
    this.#add("Energy", "Int64", [4_294_967_295, 4_294_967_295]);
    this.#add("Total", "UInt64", [1, 5]);
    this.#add("Pressure", "Float", 1.5);
    this.#add("Text", "String", "ready");
    this.#add("Note", "LocalizedText", { text: "läuft" });
    this.#add("Started", "DateTime", new Date(5_000));
    this.#add("State", state, 1);
    this.#add("Any", "BaseDataType", 0);
    this.#variables.get("Any")!.node.setValueFromSource({ dataType: DataType["Double"], value: 4 });
    this.#namespace.addVariable({
      ...{ componentOf: this.#folder, browseName: "Curve", dataType: "Double", valueRank: 1 },
      value: { dataType: DataType["Double"], arrayType: 1, value: new Float64Array([1, 2]) },
    });
  }

  #add(name: string, type: string | object, value: unknown): void {
    const dataType = this.#names.DataType[typeof type === "string" ? type : "Int32"]!;
    const node = this.#namespace.addVariable({
      ...{ componentOf: this.#folder, browseName: name, nodeId: `s=${name}`, dataType: type },
      ...{ value: { dataType, arrayType: 0, value }, minimumSamplingInterval: 50 },
    });
    this.#variables.set(name, { node, dataType });
  }

  #set(name: string, value: unknown, status = "Good"): void {
    const { node, dataType } = this.#variables.get(name)!;
    const variant = { dataType, arrayType: 0, value };
    node.setValueFromSource(variant, this.#names.StatusCodes[status], new Date());
  }

  #refuseHistory(times: number): void {
    const { node } = this.#variables.get("Temperature")!;
    const read = node.historyRead.bind(node);
    let left = times;
    node.historyRead = async (...given) => {
      const result = await read(...given);
      left -= 1;
      if (left >= 0) result.statusCode = this.#names.StatusCodes["BadTooManyOperations"]!;
      return result;
    };
  }

  #tick(everyMs: number): void {
    clearInterval(this.#ticks);
    const { node, dataType } = this.#variables.get("Temperature")!;
    this.#ticks = setInterval(() => {
      const time = new Date();
      const value = this.#written.length + 1;
      this.#written.push([time.getTime(), value]);
      node.setValueFromSource({ dataType, value }, this.#names.StatusCodes["Good"], time);
    }, everyMs);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await serve(parseJson(process.argv[2]!) as ServerOptions);
