// Verifies a backup: reads every chunk, restores databases and journal to a temporary folder, examines them
// as `millrace doctor` does, and compares a sample of the datapoints with those that the server had.
import { statfs } from "node:fs/promises";
import { join } from "node:path";
import { StartRefused } from "../data-folder.ts";
import { examineParts, pointsFolderOf } from "../data-parts.ts";
import { limits } from "../limits.ts";
import { examineStore } from "../storage/embedded-points/doctor.ts";
import { openEmbeddedPoints } from "../storage/embedded-points/embedded-points.ts";
import type { Finding } from "../storage/findings.ts";
import { examineDatabase } from "../storage/sql/dialects/sqlite/doctor.ts";
import { namedBlobs } from "../storage/sql/dialects/sqlite/peek.ts";
import { blobTables } from "./frozen-catalog.ts";
import { filesOf, readListing } from "./listing.ts";
import { DamagedChunk } from "./pool.ts";
import { type ChosenBackup, writeFiles } from "./restore.ts";
import { differencesIn, sampleOf } from "./sample.ts";

export interface Verification {
  readonly files: number;
  readonly bytes: number;
  /** Series whose datapoints were compared with those of the server. */
  readonly series: number;
  /** Empty for a backup that is in order. */
  readonly findings: readonly string[];
}

const isBlob = (path: string): boolean => /^blobs\/\d+\//.test(path);
/** Nothing that is examined needs the secret. */
const isExamined = (path: string): boolean => !isBlob(path) && path !== "secret";

/** Receives how many bytes were read; the next ones are read after it. */
type Report = (bytesDone: number) => void | Promise<void>;

/** Restores into `folder`, which is empty; the caller removes it. Throws `StartRefused` without space. */
export async function verifyBackup(
  backup: ChosenBackup,
  { folder, report }: { readonly folder: string; readonly report: Report },
): Promise<Verification> {
  const { files, bytes, sample } = backup.manifest;
  const { findings, sizes, bytesRestored } = await checkChunks(backup, report);
  const verification = { files, bytes, series: sample.length };
  if (findings.length > 0) return { ...verification, findings };
  await requireSpace(folder, bytesRestored);
  await writeFiles(backup, folder, { isWanted: isExamined, report: () => undefined });
  return { ...verification, findings: await findingsIn(folder, backup, sizes) };
}

/** The restored files must not fill the disk, which may be that of the server. */
async function requireSpace(folder: string, bytes: number): Promise<void> {
  const { bavail, blocks, bsize } = await statfs(folder);
  const needed = bytes + Math.min(limits.uploadFreeBytesMin, Math.floor((blocks * bsize) / 10));
  if (bavail * bsize < needed)
    throw new StartRefused(
      `The temporary folder for the verification needs ${needed} bytes, of which ${bytes} are used; ` +
        `${bavail * bsize} are free in ${folder}`,
    );
}

interface CheckedChunks {
  readonly findings: readonly string[];
  /** Of blobs. */
  readonly sizes: ReadonlyMap<string, number>;
  /** Of the files that are restored. */
  readonly bytesRestored: number;
}

/** Reads every chunk once. */
async function checkChunks({ repository, manifest }: ChosenBackup, report: Report): Promise<CheckedChunks> {
  const { pool } = repository;
  const sizes = new Map<string, number>();
  const findings: string[] = [];
  /** The sizes of chunks that are in order. */
  const known = new Map<string, number>();
  let bytesDone = 0;
  let bytesRestored = 0;
  try {
    for await (const { path, bytes, chunks } of filesOf(readListing(pool, manifest.listing))) {
      const unknown = [...new Set(chunks.filter((name) => !known.has(name)))];
      let bytesRead = 0;
      let at = 0;
      for (const read of pool.readAhead(unknown)) {
        const name = unknown[at++]!;
        try {
          const { length } = await read;
          known.set(name, length);
          bytesRead += length;
          await report(bytesDone + bytesRead);
        } catch (problem) {
          if (!(problem instanceof DamagedChunk)) throw problem;
          findings.push(`${path}: ${problem.message}`);
        }
      }
      const found = chunks.reduce((sum, name) => sum + (known.get(name) ?? 0), 0);
      bytesDone += bytes;
      await report(bytesDone);
      if (isExamined(path)) bytesRestored += bytes;
      if (isBlob(path)) sizes.set(path, bytes);
      if (found !== bytes) findings.push(`${path}: expected ${bytes} bytes, found ${found}`);
    }
  } catch (problem) {
    if (!(problem instanceof DamagedChunk)) throw problem;
    findings.push(`the listing: ${problem.message}`);
  }
  return { findings, sizes, bytesRestored };
}

async function findingsIn(
  data: string,
  { manifest }: ChosenBackup,
  sizes: ReadonlyMap<string, number>,
): Promise<string[]> {
  const catalogFile = join(data, "catalog.db");
  const ofCatalog = examineDatabase(catalogFile, undefined);
  if (ofCatalog.length > 0) return ofCatalog.map(lineOf);
  const { findings: ofParts } = await examineParts({ data });
  const store = await examineStore(pointsFolderOf(data), {
    ...{ mustExist: true, repair: false },
    onRepaired: () => undefined,
  });
  const ofPoints = store.findings.map((one) => ({ ...one, file: `points/${one.file}` }));
  const findings = [...ofParts, ...ofPoints].map(lineOf);
  const missing = new Set(manifest.missing);
  for (const { project, id, bytes } of namedBlobs(catalogFile, blobTables)) {
    const path = `blobs/${project}/${id}`;
    const found = sizes.get(path);
    if (found !== bytes && !missing.has(path))
      findings.push(`${path}: expected ${bytes} bytes, found ${found ?? "no file"}`);
  }
  if (findings.length > 0) return findings;
  const points = await openEmbeddedPoints({ folder: pointsFolderOf(data) });
  try {
    return differencesIn(manifest.sample, await sampleOf(points, manifest.sample));
  } finally {
    await points.close();
  }
}

const lineOf = ({ file, offset, expected, found }: Finding): string =>
  `${file} at ${offset}: expected ${expected}, found ${found}`;
