// The socket of the server: where it listens, and how it stops.
import { once } from "node:events";
import { createServer } from "node:net";
import type { FastifyInstance, FastifyListenOptions } from "fastify";
import type { Settings } from "./config.ts";
import { StartRefused } from "./data-folder.ts";

/**
 * Returns the address. Throws `StartRefused` with advice when it cannot be had. A shared one is for several
 * threads of this server.
 */
export async function listenAt(
  http: FastifyInstance,
  { host, port }: Pick<Settings, "host" | "port">,
  { isShared }: { readonly isShared: boolean },
): Promise<string> {
  try {
    if (!isShared) return await http.listen({ host, port });
    await refuseUsedPort(host, port);
    return await listenTogether(http, { host, port });
  } catch (problem) {
    const { code, message } = problem as NodeJS.ErrnoException;
    throw new StartRefused(`Cannot listen on ${host} port ${port}: ${listenAdvice[code ?? ""] ?? message}`);
  }
}

/** Fastify passes the option on to Node, but does not know it. */
export const listenTogether = (http: FastifyInstance, place: FastifyListenOptions): Promise<string> =>
  http.listen({ ...place, reusePort: true } as FastifyListenOptions);

/** A port could be shared with another server of this user: only a plain attempt tells whether it is free. */
async function refuseUsedPort(host: string, port: number): Promise<void> {
  if (port === 0) return;
  const server = createServer().listen({ host, port });
  await once(server, "listening");
  server.close();
  await once(server, "close");
}

const noSuchAddress = "this machine has no such address; set MILLRACE_HOST to one that it has";

const listenAdvice: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program has this port; stop it, or set MILLRACE_PORT to another",
  EACCES: "this user may not use this port; set MILLRACE_PORT to one above 1023",
  EADDRNOTAVAIL: noSuchAddress,
  ENOTFOUND: noSuchAddress,
};

const closeIdleEveryMs = 20;

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
