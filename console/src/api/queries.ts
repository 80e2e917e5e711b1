// The cache of responses, and the generated client's settings.
import { QueryClient } from "@tanstack/react-query";
import { seenGroupId, setSeenGroup } from "../session/see-as.ts";
import { baseUrl } from "./base.ts";
import { type Connection, watchConnection } from "./connection.ts";
import { isConnectionLost, statusOf } from "./errors.ts";
import { defaults } from "./generated.ts";

const staleMs = 15_000;
const retriesMax = 2;
const firstRetryMs = 1_000;
const reconnectEveryMs = 2_000;

/** A failure that a repeated request may mend: the server was busy or not there. */
const isTemporary = (problem: unknown): boolean =>
  [undefined, 429, 502, 503, 504].includes(statusOf(problem));

export interface Backend {
  readonly queryClient: QueryClient;
  readonly connection: Connection;
}

/** Creates the cache. From now on the generated client sends its requests to the server of this page. */
export function openBackend(): Backend {
  const queryClient = new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: staleMs,
        // Whether the server can be reached is for `watchConnection` to say, not for the browser.
        networkMode: "always",
        // While there is no connection a page keeps what was loaded last, and a notice says so. A response
        // that ends early does not turn the connection off, and it may end early each time.
        retry: (count, problem) =>
          (isConnectionLost(problem) && !connection.isOnline()) ||
          (count < retriesMax && isTemporary(problem)),
        retryDelay: (count, problem) =>
          isConnectionLost(problem) ? reconnectEveryMs : firstRetryMs * 2 ** count,
      },
    },
  });
  const connection = watchConnection(`${baseUrl()}/health`, () => void queryClient.invalidateQueries());
  setSeenGroup(seenGroupId());
  Object.assign(defaults, { baseUrl: baseUrl(), fetch: connection.fetch });
  return { queryClient, connection };
}
