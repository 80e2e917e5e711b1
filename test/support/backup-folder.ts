// A folder of backups for tests, made without a server: its backups have a few small files.
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { FolderPlace } from "../../src/backup/folder-place.ts";
import { ListingWriter } from "../../src/backup/listing.ts";
import { idOf, Repository } from "../../src/backup/repository.ts";
import { fileTable, uploadTable } from "../../src/resources/files/schema.ts";
import { timeSeriesTable } from "../../src/resources/timeseries/schema.ts";
import { temporaryFolder } from "./folder.ts";

/** The bytes of each file, by its path in the data folder. */
export type BackedUpFiles = ReadonlyMap<string, Uint8Array>;

/** Stores a backup of these files; returns its id. */
export async function addBackup(
  repository: Repository,
  snapshotMs: number,
  files: BackedUpFiles,
): Promise<string> {
  const listing = new ListingWriter(repository.pool);
  let bytes = 0;
  for (const [path, content] of files) {
    await listing.add({ path, bytes: content.length, chunks: [await repository.pool.add(content)] });
    bytes += content.length;
  }
  const id = idOf(snapshotMs);
  const counts = { series: 0, files: 0 };
  const about = { version: "1", files: files.size, bytes, counts, missing: [], sample: [] };
  await repository.writeManifest({ id, snapshotMs, ...about, listing: await listing.end() });
  return id;
}

/** A catalog with the tables that a restore reads. */
function emptyCatalog(): Uint8Array {
  const folder = temporaryFolder();
  const path = join(folder, "catalog.db");
  const database = new DatabaseSync(path);
  for (const { name } of [timeSeriesTable, fileTable])
    database.exec(`CREATE TABLE "${name}" (id INTEGER PRIMARY KEY)`);
  database.exec(`CREATE TABLE "${uploadTable.name}" (id INTEGER PRIMARY KEY, received INTEGER)`);
  database.exec(`INSERT INTO "${uploadTable.name}" VALUES (1, 100)`);
  database.close();
  const bytes = readFileSync(path);
  rmSync(folder, { recursive: true });
  return bytes;
}

/** A folder with one backup that can be restored. */
export async function newBackupFolder(): Promise<{ readonly folder: string; readonly id: string }> {
  const folder = temporaryFolder();
  const repository = await Repository.openOrMake(new FolderPlace(folder), undefined);
  const files = new Map<string, Uint8Array>([
    ["catalog.db", emptyCatalog()],
    ["secret", Buffer.from("a secret")],
    ["points/shard-0.db", Buffer.from("points")],
    ["blobs/1/7", Buffer.from("a file")],
  ]);
  return { folder, id: await addBackup(repository, Date.UTC(2026, 0, 1), files) };
}
