// The socket of the server: where it listens, and how it stops.

import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { FastifyInstance, FastifyListenOptions } from "fastify";
import type { Settings } from "./config.ts";
import { StartRefused } from "./data-folder.ts";
import { limits } from "./limits.ts";

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

interface Listening {
  readonly address: string;
  /** Where other threads can listen, too; absent if they cannot. */
  readonly shared?: ListenAddress;
}

/**
 * Throws `StartRefused` with advice when the address cannot be had. A shared one is for several threads of
 * this server.
 */
export async function listenAt(
  http: FastifyInstance,
  { host, port }: Pick<Settings, "host" | "port">,
  { isShared }: { readonly isShared: boolean },
): Promise<Listening> {
  const alone = async () => ({ address: await http.listen({ host, port }) });
  try {
    return isShared ? await oneAtATime(port, () => listenShared(http, { host, port }, alone)) : await alone();
  } catch (problem) {
    const { code, message } = problem as NodeJS.ErrnoException;
    throw new StartRefused(`Cannot listen on ${host} port ${port}: ${listenAdvice[code ?? ""] ?? message}`);
  }
}

/** Fastify passes the option on to Node, but does not know it. */
export const listenTogether = (http: FastifyInstance, place: FastifyListenOptions): Promise<string> =>
  http.listen({ ...place, reusePort: true } as FastifyListenOptions);

async function listenShared(
  http: FastifyInstance,
  { host, port }: ListenAddress,
  alone: () => Promise<Listening>,
): Promise<Listening> {
  await refuseUsedPort(host, port);
  try {
    const address = await listenTogether(http, { host, port });
    const own = http.server.address() as AddressInfo;
    // A name may have another address for the next thread. Fastify listens at all addresses of localhost.
    return { address, shared: { host: host === "localhost" ? host : own.address, port: own.port } };
  } catch (problem) {
    if (cannotShare.has((problem as NodeJS.ErrnoException).code ?? "")) return alone();
    throw problem;
  }
}

/** Of a system whose threads cannot share a port. */
const cannotShare: ReadonlySet<string> = new Set(["ENOTSUP", "EOPNOTSUPP", "ENOPROTOOPT", "EINVAL"]);

/** A port could be shared with another server of this user: only a plain attempt tells whether it is free. */
async function refuseUsedPort(host: string, port: number): Promise<void> {
  if (port === 0) return;
  const [first, ...others] = host === "localhost" ? await lookup(host, { all: true }) : [{ address: host }];
  await refuseUsed({ host: first!.address, port });
  for (const { address } of others)
    await refuseUsed({ host: address, port }).catch((problem: NodeJS.ErrnoException) => {
      if (problem.code === "EADDRINUSE") throw problem;
    });
}

async function refuseUsed(place: ListenAddress): Promise<void> {
  const server = createServer().listen(place);
  await once(server, "listening");
  server.close();
  await once(server, "close");
}

/**
 * Between the plain attempt and the shared one, a second server could do the same. So only one server of this
 * machine does it at a time for a port: it has the abstract socket of this name, which ends with its process.
 */
async function oneAtATime<Result>(port: number, work: () => Promise<Result>): Promise<Result> {
  if (port === 0) return await work();
  const lock = createServer();
  const untilMs = performance.now() + limits.portWaitMsMax;
  for (;;) {
    lock.listen(`\0millrace-port-${port}`);
    const problem = await once(lock, "listening").then(
      () => undefined,
      ({ code }: NodeJS.ErrnoException) => code,
    );
    if (problem !== "EADDRINUSE" || performance.now() > untilMs) break;
    await pause(portEveryMs);
  }
  try {
    return await work();
  } finally {
    lock.close();
  }
}

const portEveryMs = 10;

const noSuchAddress = "this machine has no such address; set MILLRACE_HOST to one that it has";

const listenAdvice: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program has this port; stop it, or set MILLRACE_PORT to another",
  EACCES: "this user may not use this port; set MILLRACE_PORT to one above 1023",
  EADDRNOTAVAIL: noSuchAddress,
  ENOTFOUND: noSuchAddress,
};

const closeIdleEveryMs = 20;

/** Waits until the work has ended or failed, but not longer than `milliseconds`. */
export async function endedWithin(work: Promise<unknown>, milliseconds: number): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, milliseconds);
  await Promise.race([work.catch(() => {}), late.promise]);
  clearTimeout(timer);
}

/** Stops accepting and waits for requests in progress, but not longer than `milliseconds`. */
export async function closeWithin(http: FastifyInstance, milliseconds: number): Promise<void> {
  // Without this, a client that keeps its connection alive after its last response would keep the server
  // open.
  const idle = setInterval(() => http.server.closeIdleConnections(), closeIdleEveryMs);
  const late = setTimeout(() => http.server.closeAllConnections(), milliseconds);
  await http.close();
  clearInterval(idle);
  clearTimeout(late);
}
