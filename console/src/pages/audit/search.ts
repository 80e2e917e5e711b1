// The search parameters of the page of the audit log, and the time range that they name.
import { present, textIn, wordIn } from "../../lib/search-values.ts";

export const auditRanges = ["1d", "7d", "30d", "365d"] as const;
export type AuditRange = (typeof auditRanges)[number];

/** As in `src/audit/schema.ts`. */
export const auditKinds = [
  ...(["rights", "keys", "settings", "deletion", "export", "import", "sign-in", "write", "read"] as const),
];
export const auditResults = ["done", "refused", "failed", "unknown"] as const;

export interface AuditSearch {
  readonly account?: string;
  readonly kind?: (typeof auditKinds)[number];
  readonly result?: (typeof auditResults)[number];
  /** A range that ends now; all records when absent. */
  readonly last?: AuditRange;
}

export const auditSearch = (raw: Record<string, unknown>): AuditSearch =>
  present({
    account: textIn(raw["account"]),
    kind: wordIn(raw["kind"], auditKinds),
    result: wordIn(raw["result"], auditResults),
    last: wordIn(raw["last"], auditRanges),
  });

const dayMs = 86_400_000;

/** The first time of the range; undefined for all records. */
export const beginOf = (last: AuditRange | undefined, nowMs: number): number | undefined =>
  last === undefined ? undefined : nowMs - Number.parseInt(last, 10) * dayMs;
