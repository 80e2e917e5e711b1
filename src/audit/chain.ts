// The hash chain of the audit log: each record has the hash of the record before it, so that a changed,
// removed or inserted record shows (docs/audit.md#the-chain).
import { createHash } from "node:crypto";
import { wellFormed } from "../lib/text.ts";
import type { AuditHead, AuditRecord, EndedOperation } from "./schema.ts";

/** The hash before the first record. */
const firstHash = "0".repeat(64);

export const emptyHead: AuditHead = {
  name: "head",
  ...{ seq: 0, hash: firstHash, removedSeq: 0, removedHash: firstHash },
};

/** SHA-256 of the values of a record in this order, as a JSON array, the previous hash last. */
export function hashOf(record: Omit<AuditRecord, "hash">): string {
  const { seq, time, account, credential, address, kind, action, resource, ids, idsCount, result } = record;
  const { endedTime = null, accountId = null, keyId = null, status = null } = record;
  const { error = null, requestId = null, previousHash } = record;
  const values = [
    ...[1, seq, time, endedTime, account, accountId, credential, keyId, address, kind, action, resource],
    ...[ids, idsCount, result, status, error, requestId, previousHash],
  ];
  return createHash("sha256").update(JSON.stringify(values)).digest("hex");
}

/** Returns the records of these operations, which follow the head, and the head after them. */
export function chained(
  head: AuditHead,
  operations: readonly EndedOperation[],
): { readonly head: AuditHead; readonly records: readonly AuditRecord[] } {
  let { seq, hash } = head;
  const records = operations.map((operation) => {
    // The catalog stores well-formed strings; the hash is that of the strings that are read again.
    const unhashed = { ...(wellFormed(operation) as EndedOperation), seq: seq + 1, previousHash: hash };
    const record = { ...unhashed, hash: hashOf(unhashed) };
    [seq, hash] = [record.seq, record.hash];
    return record;
  });
  return { head: { ...head, seq, hash }, records };
}

/** A record that is not as it was written. */
export interface BrokenRecord {
  readonly seq: number;
  readonly problem: "missing" | "changed" | "hash";
}

/** Checks records in their order, from the oldest one that is stored. */
export class ChainCheck {
  readonly #head: AuditHead;
  #seq: number;
  #hash: string;
  count = 0;

  constructor(head: AuditHead) {
    this.#head = head;
    [this.#seq, this.#hash] = [head.removedSeq, head.removedHash];
  }

  /** The first record that is not as it was written. */
  take(records: readonly AuditRecord[]): BrokenRecord | undefined {
    for (const record of records) {
      const seq = this.#seq + 1;
      if (record.seq !== seq) return { seq, problem: "missing" };
      if (hashOf(record) !== record.hash) return { seq, problem: "changed" };
      if (record.previousHash !== this.#hash) return { seq, problem: "hash" };
      [this.#seq, this.#hash] = [seq, record.hash];
      this.count += 1;
    }
    return undefined;
  }

  /** Call after the last record: whether the newest records are there. */
  end(): BrokenRecord | undefined {
    if (this.#seq < this.#head.seq) return { seq: this.#seq + 1, problem: "missing" };
    const isHead = this.#seq === this.#head.seq && this.#hash === this.#head.hash;
    return isHead ? undefined : { seq: this.#seq, problem: "hash" };
  }
}
