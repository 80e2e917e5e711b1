// A session with an OPC UA server. It is never repaired: after any fault it ends, and a new one begins.
import { X509Certificate } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { UsageError } from "../../client/command.ts";
import { limits } from "../../limits.ts";
import type { Configuration } from "./configuration.ts";
import type {
  CertificateManager,
  EndpointDescription,
  Library,
  OpcUaClient,
  OpcUaSession,
} from "./library.ts";
import type { Namespaces } from "./node-ids.ts";

export interface PlantSession {
  readonly library: Library;
  readonly session: OpcUaSession;
  readonly namespaces: Namespaces;
  /** How many nodes one request may have. */
  readonly perRequest: OperationLimits;
  /** Resolves with the reason when the session is lost. */
  readonly lost: Promise<string>;
  isLost(): boolean;
  close(): Promise<void>;
}

export interface OperationLimits {
  readonly browse: number;
  readonly read: number;
  readonly history: number;
  readonly monitor: number;
}

/** Of the server: the nodes of its capabilities in the namespace 0, and our own bounds. */
const operationLimits = {
  browse: { node: "i=11710", most: 100 },
  read: { node: "i=11705", most: 500 },
  history: { node: "i=12165", most: 50 },
  monitor: { node: "i=11714", most: 1_000 },
} as const;

const userTokens = { anonymous: 0, userName: 1, certificate: 2 } as const;
const valueAttribute = 13;

export async function openSession(library: Library, configuration: Configuration): Promise<PlantSession> {
  const certificates = await openCertificates(library, configuration);
  const client = newClient(library, configuration, certificates);
  const { promise: lost, resolve } = Promise.withResolvers<string>();
  let isLost = false;
  const lose = (reason: string) => {
    isLost = true;
    resolve(reason);
  };
  const close = async () => {
    lose("The connection was closed");
    // In a half-open network no response comes; the client gives up by itself later.
    await Promise.race([client.disconnect().catch(() => {}), pause(limits.connectorOpcUaCloseMs)]);
    await certificates.dispose();
  };
  try {
    client.on("connection_lost", () => lose("The connection was lost"));
    client.on("close", () => lose("The connection was closed"));
    client.on("abort", () => lose("The server ended the connection"));
    await client.connect(configuration.endpoint);
    const session = await client.createSession(userOf(configuration.user));
    session.on("session_closed", () => lose("The server closed the session"));
    session.on("keepalive_failure", () => lose("The server does not respond"));
    const namespaces = await session.readNamespaceArray();
    const perRequest = await readLimits(library, session);
    return { library, session, namespaces, perRequest, lost, isLost: () => isLost, close };
  } catch (problem) {
    await close();
    throw problem;
  }
}

/** The endpoints of the server, read without security. */
export async function endpointsOf(
  library: Library,
  configuration: Configuration,
): Promise<readonly EndpointDescription[]> {
  const certificates = await openCertificates(library, configuration);
  const client = newClient(library, { ...configuration, security: { mode: "None" } }, certificates);
  try {
    await client.connect(configuration.endpoint);
    return await client.getEndpoints();
  } finally {
    await client.disconnect();
    await certificates.dispose();
  }
}

/** The certificate of this client: its file for the server's trust list, and its thumbprint. */
export function ownCertificate(configuration: Configuration): { file: string; thumbprint: string } {
  const file = join(folderOf(configuration), "own/certs/client_certificate.pem");
  const { fingerprint } = new X509Certificate(readFileSync(file));
  return { file, thumbprint: fingerprint.replaceAll(":", "") };
}

const folderOf = ({ security }: Configuration): string =>
  resolve(security?.certificates ?? "opcua-certificates");

/**
 * Makes the folder and the certificate at the first use. The certificate of the first server is trusted and
 * kept; from then on only the certificates in `trusted/certs` are.
 */
async function openCertificates(library: Library, configuration: Configuration): Promise<CertificateManager> {
  const rootFolder = folderOf(configuration);
  const trusted = join(rootFolder, "trusted/certs");
  const isFirst = !existsSync(trusted) || readdirSync(trusted).length === 0;
  const certificates = new library.OPCUACertificateManager({
    ...{ rootFolder, automaticallyAcceptUnknownCertificate: isFirst, disableFileWatchers: true },
  });
  await certificates.initialize();
  return certificates;
}

function newClient(
  library: Library,
  { security: { mode = "None", policy } = {} }: Configuration,
  clientCertificateManager: CertificateManager,
): OpcUaClient {
  return library.OPCUAClient.create({
    applicationName: "Millrace",
    clientName: "Millrace connector",
    clientCertificateManager,
    securityMode: library.MessageSecurityMode[mode],
    securityPolicy: policy ?? (mode === "None" ? "None" : "Basic256Sha256"),
    endpointMustExist: false,
    // The library must not connect again by itself: a new session replaces a lost one.
    connectionStrategy: { maxRetry: 0, initialDelay: 500, maxDelay: 1_000 },
    keepSessionAlive: true,
    requestedSessionTimeout: limits.connectorOpcUaSessionMs,
    transportTimeout: limits.connectorOpcUaRequestMs,
    defaultTransactionTimeout: limits.connectorOpcUaRequestMs,
  });
}

function userOf(user: Configuration["user"]): object {
  if (!user) return { type: userTokens.anonymous };
  if ("name" in user) return { type: userTokens.userName, userName: user.name, password: user.password };
  try {
    const certificateData = new X509Certificate(readFileSync(user.certificate)).raw;
    return { type: userTokens.certificate, certificateData, privateKey: readFileSync(user.key, "utf8") };
  } catch (problem) {
    throw new UsageError(`source.user: its files cannot be read: ${(problem as Error).message}`);
  }
}

async function readLimits(library: Library, session: OpcUaSession): Promise<OperationLimits> {
  const names = Object.keys(operationLimits) as (keyof OperationLimits)[];
  const nodes = names.map((name) => ({
    ...{ nodeId: library.coerceNodeId(operationLimits[name].node), attributeId: valueAttribute },
  }));
  const values = await session.read(nodes);
  const bounds = names.map((name, i) => {
    const given = Number(values[i]?.value?.value ?? 0);
    const { most } = operationLimits[name];
    return [name, given > 0 ? Math.min(given, most) : most] as const;
  });
  return Object.fromEntries(bounds) as unknown as OperationLimits;
}
