// Whether the server can be reached: a request that fails without a response turns it off, a health check
// that succeeds turns it on again.
import { createContext, use, useSyncExternalStore } from "react";

export interface Connection {
  isOnline(): boolean;
  subscribe(listener: () => void): () => void;
  /** `fetch` that watches whether there is a response. */
  readonly fetch: typeof fetch;
}

export const ConnectionContext = createContext<Connection | null>(null);

/** Whether the server can be reached. */
export function useIsOnline(): boolean {
  const connection = use(ConnectionContext)!;
  return useSyncExternalStore(connection.subscribe, connection.isOnline);
}

const retryMs = 2_000;

/** `healthUrl` responds when the server is there; `onReturn` runs when it is there again. */
export function watchConnection(healthUrl: string, onReturn: () => void): Connection {
  const listeners = new Set<() => void>();
  let online = true;
  const set = (value: boolean) => {
    if (online === value) return;
    online = value;
    for (const listener of listeners) listener();
    if (value) onReturn();
    else setTimeout(check, retryMs);
  };
  const check = () =>
    fetch(healthUrl).then(
      () => set(true),
      () => void setTimeout(check, retryMs),
    );
  return {
    isOnline: () => online,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async fetch(input, init) {
      try {
        const response = await fetch(input, init);
        set(true);
        return response;
      } catch (problem) {
        if (problem instanceof TypeError) set(false);
        throw problem;
      }
    },
  };
}
