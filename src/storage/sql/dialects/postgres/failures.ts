// Maps failures of PostgreSQL, and of the connection to it, to those of a request.
import { type Failure, fail } from "../../../../errors.ts";
import { limits } from "../../../../limits.ts";

/** The network's codes, and the messages of `pg` for a connection that it lost or could not make. */
const networkCodes =
  /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOST|ENET|CERT_|ERR_TLS|SELF_SIGNED|DEPTH_ZERO)/;
const lostConnection =
  /Connection terminated|timeout exceeded|timeout expired|read timeout|not queryable|has encountered/;

const sqlStates = {
  /** The disk of the database is full. */
  disk: /^53100$/,
  /** Not connected, not allowed in, starting or stopping, a standby, or busy for too long. */
  away: /^(08|28|57P|53|3D000|25006|25P0[34]|55P03|40001|40P01|XX000)/,
  /** An indexed value has more bytes than an index can hold. */
  indexRow: /^54000$/,
};

/** The refusal for an error of PostgreSQL; undefined if it is an error of this server itself. */
export function refusalOf(error: unknown): Failure | undefined {
  const { code = "", message = "" } = error as { readonly code?: string; readonly message?: string };
  if (sqlStates.disk.test(code)) return fail("catalog-not-stored", { problem: message });
  if (sqlStates.indexRow.test(code))
    return fail("catalog-key-too-long", { bytesMax: limits.catalogIndexedBytesMax });
  const isAway = networkCodes.test(code) || sqlStates.away.test(code) || lostConnection.test(message);
  return isAway ? fail("catalog-away", { retryAfterSeconds: limits.catalogRetrySeconds }) : undefined;
}
