// The parts of node-opcua-client that the source uses. The library is installed only by those who use it, so
// that its own types are missing where it is not.
import type { EventEmitter } from "node:events";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { UsageError } from "../../client/command.ts";

export interface NodeId {
  readonly namespace: number;
  readonly value: number | string | Buffer;
  /** `ns=1;s=name`. */
  toString(): string;
}

export interface DataValue {
  readonly value?: { readonly dataType: number; readonly arrayType: number; readonly value: unknown } | null;
  readonly statusCode: { readonly value: number; readonly name: string };
  readonly sourceTimestamp?: Date | null;
  readonly serverTimestamp?: Date | null;
}

export interface Reference {
  readonly referenceTypeId: NodeId;
  readonly nodeId: NodeId;
  readonly browseName: { readonly name: string | null };
  readonly nodeClass: number;
  readonly typeDefinition: NodeId;
}

export interface BrowseResult {
  readonly references: readonly Reference[] | null;
  readonly continuationPoint: Buffer | null;
}

export interface HistoryResult {
  readonly statusCode: { readonly value: number; readonly name: string };
  readonly continuationPoint: Buffer | null;
  readonly historyData: { readonly dataValues?: readonly DataValue[] | null } | null;
}

export interface MonitoredGroup extends EventEmitter {
  readonly monitoredItems: readonly {
    readonly statusCode: { readonly value: number; readonly name: string };
  }[];
}

export interface Subscription extends EventEmitter {
  readonly publishingInterval: number;
  readonly maxKeepAliveCount: number;
  monitorItems(items: readonly object[], parameters: object, timestamps: number): Promise<MonitoredGroup>;
}

export interface OpcUaSession extends EventEmitter {
  browse(nodes: readonly object[]): Promise<readonly BrowseResult[]>;
  browseNext(points: readonly Buffer[], isReleased: boolean): Promise<readonly BrowseResult[]>;
  read(nodes: readonly object[], maxAge?: number): Promise<readonly DataValue[]>;
  readNamespaceArray(): Promise<readonly string[]>;
  historyRead(request: object): Promise<{ readonly results: readonly HistoryResult[] | null }>;
  createSubscription2(options: object): Promise<Subscription>;
}

export interface EndpointDescription {
  readonly endpointUrl: string | null;
  readonly securityMode: number;
  readonly securityPolicyUri: string | null;
}

export interface OpcUaClient extends EventEmitter {
  connect(endpoint: string): Promise<void>;
  getEndpoints(): Promise<readonly EndpointDescription[]>;
  createSession(user: object): Promise<OpcUaSession>;
  /** Closes the sessions too. */
  disconnect(): Promise<void>;
}

export interface CertificateManager {
  initialize(): Promise<void>;
  dispose(): Promise<void>;
}

export interface Library {
  readonly OPCUAClient: { create(options: object): OpcUaClient };
  readonly OPCUACertificateManager: new (options: object) => CertificateManager;
  readonly HistoryReadRequest: new (options: object) => object;
  readonly ReadRawModifiedDetails: new (options: object) => object;
  readonly DataChangeFilter: new (options: object) => object;
  readonly MessageSecurityMode: Readonly<Record<string, number | string>>;
  coerceNodeId(text: string): NodeId;
}

export const installCommand = "npm ci --prefix src/connectors/opcua --omit=dev";

/** Loads the library. If it is missing, throws a `UsageError` with the command that installs it. */
export async function loadLibrary(): Promise<Library> {
  const names = ["node-opcua-client", "node-opcua-certificate-manager"];
  // Beside this source, also when the program runs from its bundle.
  const required = createRequire(import.meta.url);
  try {
    const [client, certificates] = await Promise.all(
      names.map((name) => import(pathToFileURL(required.resolve(name)).href)),
    );
    // Its warnings and debug lines would mix with the status line.
    for (const set of ["setWarningLogger", "setErrorLogger", "setDebugLogger"]) client[set](() => {});
    return { ...client, ...certificates } as Library;
  } catch (problem) {
    if ((problem as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND") throw problem;
    throw new UsageError(
      `The library of OPC UA is not installed. Run this in the folder of Millrace: ${installCommand}`,
    );
  }
}
