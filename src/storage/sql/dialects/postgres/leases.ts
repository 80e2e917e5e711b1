// The leases of servers in PostgreSQL. Its clock decides when one expires.
import { sql } from "kysely";
import { limits } from "../../../../limits.ts";
import type { ServerLeases } from "../../../catalog.ts";
import type { Db } from "../../dialect.ts";
import { leaseLock, leasesTable, serverSequence } from "./schema.ts";

const leases = sql.table(leasesTable);
const fromNow = sql`clock_timestamp() + ${limits.serverLeaseMs} * interval '1 ms'`;

const granted = async (db: Db): Promise<number> => {
  await sql`select pg_advisory_xact_lock(${leaseLock})`.execute(db);
  const { rows } = await sql<{ number: number }>`
    insert into ${leases} (number, expires) values (nextval(${serverSequence}), ${fromNow}) returning number
  `.execute(db);
  return rows[0]!.number;
};

const renewed = async (db: Db, number: number): Promise<boolean> => {
  const { rows } = await sql`
    update ${leases} set expires = ${fromNow} where number = ${number} and has_ended = 0 returning number
  `.execute(db);
  return rows.length > 0;
};

const ended = async (db: Db, number: number): Promise<void> => {
  await sql`update ${leases} set has_ended = 1 where number = ${number}`.execute(db);
};

/** A lease that its server is renewing is skipped, so that a server that hangs meanwhile blocks no other. */
const expiredEnded = async (db: Db): Promise<void> => {
  await sql`
    update ${leases} set has_ended = 1 where number in (
      select number from ${leases} where has_ended = 0 and expires < clock_timestamp() for update skip locked
    )
  `.execute(db);
};

const listed = async (db: Db) => {
  const { rows } = await sql<{ number: number; ended: number }>`
    select number, has_ended as ended from ${leases}
  `.execute(db);
  return rows.map(({ number, ended }) => ({ number, hasEnded: ended === 1 }));
};

type Run = <Result>(work: (db: Db) => Promise<Result>) => Promise<Result>;

/** Server leases in PostgreSQL; `write` and `read` run a transaction each. */
export const serverLeases = ({ write, read }: { readonly write: Run; readonly read: Run }): ServerLeases => ({
  grant: () => write(granted),
  renew: (number) => write((db) => renewed(db, number)),
  end: (number) => write((db) => ended(db, number)),
  endExpired: () => write(expiredEnded),
  list: () => read(listed),
});
