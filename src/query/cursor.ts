// Cursors: keyset positions bound to their query, signed, URL-safe and opaque to clients.
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { fail } from "../errors.ts";
import { parseJson } from "../lib/json.ts";
import type { PageQuery, Position } from "./page.ts";

type Place = Omit<PageQuery, "limit">;

export interface CursorSigner {
  /** `query` is everything that decides the collection and its order: a cursor serves no other. */
  sign(query: unknown, place: Place): string;
  /** Refuses a cursor that is forged or that was made for a query which is none of these. */
  read(queries: readonly unknown[], cursor: string): Place;
}

const macBytes = 12;

/**
 * A cursor is an HMAC-SHA256 of query and place, shortened to `macBytes`, and the place as JSON, in
 * base64url.
 */
export function cursorSigner(secret: Uint8Array): CursorSigner {
  const macOf = (query: unknown, payload: string) =>
    createHmac("sha256", secret).update(fingerprint(query)).update(payload).digest().subarray(0, macBytes);
  return {
    sign(query, { after, before, until }) {
      const payload = JSON.stringify([after ?? 0, before ?? 0, until ?? 0]);
      return Buffer.concat([macOf(query, payload), Buffer.from(payload)]).toString("base64url");
    },
    read(queries, cursor) {
      const bytes = Buffer.from(cursor, "base64url");
      const payload = bytes.subarray(macBytes).toString();
      const mac = bytes.subarray(0, macBytes);
      const isFor = (query: unknown) => timingSafeEqual(mac, macOf(query, payload));
      if (mac.length !== macBytes || !queries.some(isFor)) throw fail("cursor-invalid", {});
      const [after, before, until] = parseJson(payload) as (Position | 0)[];
      return { ...(after && { after }), ...(before && { before }), ...(until && { until }) };
    },
  };
}

function fingerprint(query: unknown): Buffer {
  return createHash("sha256").update(JSON.stringify(query)).digest();
}
