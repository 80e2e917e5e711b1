// A record in the data folder of the ClickHouse database that has its datapoints, without the password.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { isIntact, readUnchecked, syncFolder, writeChecked } from "../../lib/durable-files.ts";
import { CannotOpen, refuseOtherFormat } from "../cannot-open.ts";
import { type ClickHouseShards, withoutPassword } from "./location.ts";

const recordName = "clickhouse.json";
const format = 1;

/** Writes the record. Without shards removes it, because the datapoints are in the folder. */
export async function recordLocation(folder: string, shards: ClickHouseShards | undefined): Promise<void> {
  const known = await readUnchecked(folder, recordName);
  if (shards === undefined) {
    if (known === undefined) return;
    await rm(join(folder, recordName));
    await syncFolder(folder);
    return;
  }
  const url = withoutPassword(...shards);
  if (known?.["url"] === url && isIntact(known)) return;
  await writeChecked(folder, recordName, { format, url });
}

/** Throws `CannotOpen` if the datapoints of this folder are in a ClickHouse database. */
export async function refuseRecordedLocation(folder: string): Promise<void> {
  const record = await readUnchecked(folder, recordName);
  if (record === undefined) return;
  refuseOtherFormat(join(folder, recordName), record["format"], format);
  const where = isIntact(record) ? String(record["url"]) : "a ClickHouse database";
  throw new CannotOpen(`the datapoints are in ${where}, and MILLRACE_POINTS is not set`, "unset");
}
