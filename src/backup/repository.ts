// A backup folder: its description, the pool of chunks, and a manifest for each backup, which is written
// last.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { StartRefused } from "../data-folder.ts";
import { parseJson } from "../lib/json.ts";
import {
  type ChunkEncoding,
  type Encryption,
  encodingWith,
  newEncryption,
  plainEncoding,
} from "./encoding.ts";
import type { BackupPlace } from "./place.ts";
import { Pool } from "./pool.ts";
import type { PointsSample } from "./sample.ts";

export interface BackupManifest {
  readonly id: string;
  /** Of an increment: the backup or increment whose files it has, with the changes since then. */
  readonly from?: string;
  /** The time whose state the backup has. */
  readonly snapshotMs: number;
  /** Of the server that made it. */
  readonly version: string;
  readonly files: number;
  readonly bytes: number;
  /** Records and files at the time of the snapshot. */
  readonly counts: { readonly series: number; readonly files: number };
  /** Files that the catalog names and the data folder lacked. */
  readonly missing: readonly string[];
  /** Points that the server read at the time of the snapshot, for `millrace verify`. */
  readonly sample: readonly PointsSample[];
  /** The chunks of the listing. */
  readonly listing: readonly string[];
}

interface Description {
  readonly format: typeof format;
  readonly version: number;
  readonly encryption?: Encryption;
}

const format = "millrace-backups";
const version = 1;
const descriptionName = "millrace-backups.json";
const manifestFolder = "backups";
/** Increments are apart, because there are many of them. */
const incrementFolder = "increments";

export class Repository {
  readonly place: BackupPlace;
  readonly pool: Pool;
  readonly #encoding: ChunkEncoding;

  private constructor(place: BackupPlace, encoding: ChunkEncoding) {
    this.place = place;
    this.#encoding = encoding;
    this.pool = new Pool(place, encoding);
  }

  /** Opens a backup folder, or makes one in an empty place. Throws `StartRefused`. */
  static async openOrMake(place: BackupPlace, passphrase: string | undefined): Promise<Repository> {
    const found = await place.read(descriptionName);
    if (found) return Repository.#with(place, found, passphrase);
    if ((await place.list("")).some((name) => !/^(lock(-.*)?|holder\.pid)$/.test(name)))
      throw new StartRefused(`${place.name} has other files, and is not a folder of backups`);
    const encryption = passphrase === undefined ? undefined : newEncryption(passphrase);
    const description: Description = { format, version, ...(encryption && { encryption }) };
    // If the disk of the folder was away above and is back, its backups need the salt that they were made
    // with.
    await place.writeNew(descriptionName, Buffer.from(`${JSON.stringify(description)}\n`));
    await place.sync();
    return new Repository(place, encryption ? encodingWith(passphrase!, encryption) : plainEncoding);
  }

  /** Throws `StartRefused` for a place without backups. */
  static async open(place: BackupPlace, passphrase: string | undefined): Promise<Repository> {
    const found = await place.read(descriptionName);
    if (!found)
      throw new StartRefused(
        `${place.name} is not a folder of backups: it has no ${descriptionName}. Is its disk mounted? ` +
          "The first backup makes it: millrace backup",
      );
    return Repository.#with(place, found, passphrase);
  }

  static #with(place: BackupPlace, found: Uint8Array, passphrase: string | undefined): Repository {
    const description = descriptionIn(found, place.name);
    const { encryption } = description;
    if (encryption && passphrase === undefined)
      throw new StartRefused(`The backups in ${place.name} are encrypted; name the passphrase file`);
    if (!encryption && passphrase !== undefined)
      throw new StartRefused(`The backups in ${place.name} are not encrypted; leave out the passphrase file`);
    return new Repository(place, encryption ? encodingWith(passphrase!, encryption) : plainEncoding);
  }

  /** The ids of all complete backups, oldest first. */
  async ids(): Promise<string[]> {
    return idsOf(await this.place.list(manifestFolder));
  }

  /** The ids of all increments, oldest first. */
  async incrementIds(): Promise<string[]> {
    return idsOf(await this.place.list(incrementFolder));
  }

  /** Throws `StartRefused` when it is missing or damaged. */
  async manifest(id: string): Promise<BackupManifest> {
    let path = manifestPath(id);
    let stored = await this.place.read(path);
    if (stored === undefined) {
      path = incrementPath(id);
      stored = await this.place.read(path);
    }
    if (stored === undefined) throw new StartRefused(`${this.place.name} has no backup ${id}`);
    try {
      const [text, sum] = Buffer.from(this.#encoding.decode(path, stored)).toString("utf8").split("\n");
      if (sum === sumOf(text!)) return parseJson(text!) as BackupManifest;
    } catch {
      // A manifest that cannot be decoded is damaged, as one with a wrong checksum is.
    }
    throw new StartRefused(`The manifest ${path} in ${this.place.name} is damaged`);
  }

  /** Call when every chunk is stored: the backup is complete with it. */
  async writeManifest(manifest: BackupManifest): Promise<void> {
    await this.place.sync();
    const text = JSON.stringify(manifest);
    const { id, from } = manifest;
    const path = from === undefined ? manifestPath(id) : incrementPath(id);
    await this.place.write(path, this.#encoding.encode(path, Buffer.from(`${text}\n${sumOf(text)}\n`)));
    await this.place.sync();
  }

  async removeManifest(id: string): Promise<void> {
    await this.place.remove(manifestPath(id));
  }

  async removeIncrement(id: string): Promise<void> {
    await this.place.remove(incrementPath(id));
  }
}

/** The file of a backup, in the folder of backups. */
export const manifestPath = (id: string): string => `${manifestFolder}/${id}.manifest`;

export const incrementPath = (id: string): string => `${incrementFolder}/${id}.manifest`;

const idsOf = (names: readonly string[]): string[] =>
  names.flatMap((name) => /^(\d{8}T\d{6}\.\d{3}Z)\.manifest$/.exec(name)?.[1] ?? []).sort();

const sumOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Ids sort like their snapshots: 20261123T143005.123Z. */
export const idOf = (snapshotMs: number): string =>
  new Date(snapshotMs).toISOString().replaceAll(/[-:]/g, "");

/** The time in an id. */
export const snapshotOf = (id: string): number =>
  Date.parse(id.replace(/^(....)(..)(..)T(..)(..)/, "$1-$2-$3T$4:$5:"));

function descriptionIn(found: Uint8Array, place: string): Description {
  const name = `${place}/${descriptionName}`;
  let description: Description;
  try {
    description = parseJson(Buffer.from(found).toString("utf8")) as Description;
  } catch (problem) {
    throw new StartRefused(`${name} is damaged: ${(problem as Error).message}`);
  }
  if (description.format !== format) throw new StartRefused(`${name} does not describe backups`);
  if (description.version !== version)
    throw new StartRefused(`${name} has version ${description.version}; this Millrace reads ${version}`);
  return description;
}

/** The passphrase in a file, without blanks at its ends. */
export function passphraseIn(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  let text: string;
  try {
    text = readFileSync(file, "utf8").trim();
  } catch (problem) {
    throw new StartRefused(`Cannot read the passphrase file: ${(problem as Error).message}`);
  }
  if (text === "") throw new StartRefused(`The passphrase file ${file} is empty`);
  return text;
}
