// Versions order all writes: of points with one key, the one with the highest version counts.
import { createHash } from "node:crypto";
import { CannotOpen } from "../cannot-open.ts";
import type { ClickHouseClient } from "./client.ts";
import { encodeBlock } from "./native-format.ts";
import { sql } from "./sql.ts";

/**
 * Takes ascending versions, all higher than those that any server has taken before. So a write that begins
 * after another was acknowledged has the higher version, on whatever server. No clock is involved.
 */
export type TakeVersions = (count: number) => Promise<Float64Array>;

const versionsReserved = 2 ** 32;

interface Owned {
  readonly client: ClickHouseClient;
  /** Number of the catalog whose series the database has. */
  readonly owner: number;
}

/**
 * Throws `CannotOpen` when the database belongs to another catalog, or is unused although `isUsed` says that
 * an earlier start has claimed it.
 */
export async function claimDatabase({ isUsed, ...owned }: Owned & { readonly isUsed: boolean }) {
  if ((await lastReservation(owned)) !== undefined) return;
  if (isUsed) {
    const installation = `this installation, owner ${owned.owner}, has its datapoints in ClickHouse`;
    throw new CannotOpen(`the database ${owned.client.name} is empty, but ${installation}`, "emptied");
  }
  await insertReservation(owned, 0);
}

/**
 * Versions for the only server of a database. Each run reserves ranges above all earlier ones, so a start
 * after a crash needs no scan of the points.
 */
export class ReservedVersions {
  readonly #owned: Owned;
  #next = 0;
  #end = 0;

  constructor(owned: Owned) {
    this.#owned = owned;
  }

  readonly take: TakeVersions = async (count) => {
    if (this.#next + count > this.#end) await this.#reserve();
    const first = this.#next;
    this.#next += count;
    return Float64Array.from({ length: count }, (_, index) => first + index);
  };

  async #reserve(): Promise<void> {
    const number = ((await lastReservation(this.#owned)) ?? 0) + 1;
    await insertReservation(this.#owned, number);
    this.#next = number * versionsReserved;
    this.#end = this.#next + versionsReserved;
  }
}

/** Undefined in an unused database. */
async function lastReservation({ client, owner }: Owned): Promise<number | undefined> {
  const rows = await client.query(sql`SELECT owner, max(number) AS last FROM reservations GROUP BY owner`);
  if (rows.numbers("owner").some((one) => one !== owner))
    throw new CannotOpen(`the database ${client.name} belongs to another catalog or shard`, "elsewhere");
  return rows.numbers("last")[0];
}

async function insertReservation({ client, owner }: Owned, number: number): Promise<void> {
  const block = encodeBlock(1, [
    { name: "owner", type: "UInt64", values: Float64Array.of(owner) },
    { name: "number", type: "UInt64", values: Float64Array.of(number) },
  ]);
  await client.insert(sql`INSERT INTO reservations (owner, number)`, block);
}

/**
 * The owner that the database of a shard names. It differs from shard to shard, so that a start with other
 * shards, or in another order, is refused: it would look for series in the wrong one.
 */
export function ownerOfShard(owner: number, index: number, count: number): number {
  if (count === 1) return owner;
  const named = createHash("sha256").update(`${owner} shard ${index + 1} of ${count}`);
  return named.digest().readUIntBE(0, ownerBytes);
}

/** As many as a number holds exactly. */
const ownerBytes = 6;
