// The cache of responses, and the generated client's settings.
import { onlineManager, QueryClient } from "@tanstack/react-query";
import { seenGroupId, setSeenGroup } from "../session/see-as.ts";
import { sessionQuery } from "../session/session.ts";
import { baseUrl } from "./base.ts";
import { type Connection, ConnectionLost, watchConnection } from "./connection.ts";
import { statusOf } from "./errors.ts";
import { defaults } from "./generated.ts";

const staleMs = 15_000;
const retriesMax = 2;
const firstRetryMs = 1_000;

/** A failure after which a repeated request may succeed: the server was busy or away. */
const isTemporary = (problem: unknown): boolean =>
  [undefined, 429, 502, 503, 504].includes(statusOf(problem));

export interface Backend {
  readonly queryClient: QueryClient;
  readonly connection: Connection;
}

/** Creates the cache. From now on the generated client sends its requests to the server of this page. */
export function openBackend(): Backend {
  const connection = watchConnection(`${baseUrl()}/health`);
  // Queries pause while there is no connection, and all of them are repeated when it is back.
  onlineManager.setEventListener((setOnline) => connection.subscribe(() => setOnline(connection.isOnline())));
  const queryClient = new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: staleMs,
        refetchOnReconnect: "always",
        // A response that ends early does not turn the connection off, and it may end early each time.
        retry: (count, problem) =>
          (problem instanceof ConnectionLost && !connection.isOnline()) ||
          (count < retriesMax && isTemporary(problem)),
        retryDelay: (count) => firstRetryMs * 2 ** count,
      },
      // A change that begins without a connection fails at once: later it could surprise people.
      mutations: { networkMode: "always" },
    },
  });
  setSeenGroup(seenGroupId());
  const watched = withSessionCheck(connection.fetch, queryClient);
  Object.assign(defaults, { baseUrl: baseUrl(), fetch: watched });
  return { queryClient, connection };
}

/** Reads the session again after a 401 of another request: the session may have ended. */
function withSessionCheck(send: typeof fetch, queryClient: QueryClient): typeof fetch {
  const sessionUrl = `${baseUrl()}/session`;
  return async (input, init) => {
    const response = await send(input, init);
    if (response.status === 401 && input !== sessionUrl)
      void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey, exact: true });
    return response;
  };
}
