// Whether the server can be reached: a request that fails without a response turns it off, a health check
// that succeeds turns it on again.
import { createContext, use, useSyncExternalStore } from "react";
import { parsed } from "./errors.ts";

/**
 * A request ended without a response of the server, or within one. Browsers throw a `TypeError` then, as they
 * do for faults of code, with messages of their own.
 */
export class ConnectionLost extends Error {}

export interface Connection {
  isOnline(): boolean;
  subscribe(listener: () => void): () => void;
  /**
   * `fetch` that watches whether there is a response, and throws `ConnectionLost` without one. The whole
   * response has arrived when it returns.
   */
  readonly fetch: typeof fetch;
}

export const ConnectionContext = createContext<Connection | null>(null);

/** Whether the server can be reached. */
export function useIsOnline(): boolean {
  const connection = use(ConnectionContext)!;
  return useSyncExternalStore(connection.subscribe, connection.isOnline);
}

const retryMs = 2_000;
const away = "The server cannot be reached.";

/** Watches the connection to the server by requests to `healthUrl`. */
export function watchConnection(healthUrl: string): Connection {
  const listeners = new Set<() => void>();
  let online = true;
  const isThere = async () => {
    try {
      return !isOfProxy(await withBody(await fetch(healthUrl)));
    } catch {
      return false;
    }
  };
  const set = (value: boolean) => {
    if (online === value) return;
    online = value;
    for (const listener of listeners) listener();
    if (!value) setTimeout(check, retryMs);
  };
  const check = async () => {
    if (await isThere()) set(true);
    else setTimeout(check, retryMs);
  };
  return {
    isOnline: () => online,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async fetch(input, init) {
      // A fault of the request itself fails here, and is none of the connection.
      const request = new Request(input, init);
      const response = await fetch(request).catch((problem: unknown) => {
        if (!(problem instanceof TypeError)) throw problem;
        set(false);
        throw new ConnectionLost(away);
      });
      const whole = await withBody(response);
      if (!isOfProxy(whole)) set(true);
      else if (!(await isThere())) {
        set(false);
        throw new ConnectionLost(away);
      }
      return whole.response;
    },
  };
}

interface Whole {
  readonly response: Response;
  readonly text: () => string;
}

/**
 * Whether a proxy responded because it did not reach the server. The server's own failures are JSON with its
 * `error`, or with the `status` and `version` of its health; gateways write HTML, or JSON of another shape.
 * One request that takes a proxy too long has such a response as well.
 */
function isOfProxy({ response, text }: Whole): boolean {
  if (![502, 503, 504].includes(response.status)) return false;
  const body = parsed(text()) as
    | { readonly error?: { readonly code?: unknown }; readonly status?: unknown; readonly version?: unknown }
    | null
    | undefined;
  const isHealth = typeof body?.status === "string" && typeof body.version === "string";
  return typeof body?.error?.code !== "number" && !isHealth;
}

/** Reads the body: the connection can also be lost in the middle of it. */
async function withBody(response: Response): Promise<Whole> {
  const bytes = await response.arrayBuffer().catch((problem: unknown) => {
    if (!(problem instanceof TypeError)) throw problem;
    throw new ConnectionLost("The connection was lost before the whole response arrived.");
  });
  const { status, statusText, headers } = response;
  const body = bytes.byteLength === 0 ? null : bytes;
  return {
    response: new Response(body, { status, statusText, headers }),
    text: () => new TextDecoder().decode(bytes),
  };
}
