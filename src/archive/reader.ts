// Reads an archive as a stream of entries, and verifies all of it against its manifest.
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGunzip, createZstdDecompress } from "node:zlib";
import { createTarDecoder, type ParsedTarEntry } from "modern-tar";
import { parseJson, parseJsonWithPairs } from "../lib/json.ts";
import { LineTooLong, linesOf } from "../lib/lines.ts";
import { limits } from "../limits.ts";
import {
  type ArchiveHeader,
  type ArchiveManifest,
  BadArchive,
  formatName,
  formatVersion,
  headName,
  manifestName,
  Tally,
} from "./format.ts";

export interface ArchiveEntry {
  readonly name: string;
  readonly size: number;
  /** Undefined for the first and the last entry. */
  readonly section: string | undefined;
  /** Read to the end, or not at all. */
  readonly body: AsyncIterable<Uint8Array>;
}

export interface JsonLine {
  readonly value: unknown;
  readonly line: number;
  readonly bytes: number;
}

/**
 * The entries in their order; unread bytes of an entry are skipped. `onBytes` gets the numbers of bytes read.
 */
export async function* entriesOf(
  file: string,
  onBytes?: (bytes: number) => void,
): AsyncGenerator<ArchiveEntry> {
  const unpacked = (await isGzip(file)) ? createGunzip() : createZstdDecompress();
  const input = createReadStream(file);
  input.on("data", (chunk) => onBytes?.(chunk.length));
  const flowing = pipeline(input, unpacked);
  flowing.catch(() => {}); // It is raised where the entries are read.
  const tar = ReadableStream.from<Uint8Array>(unpacked).pipeThrough(createTarDecoder({ strict: true }));
  try {
    for await (const { header, body } of tar as AsyncIterable<ParsedTarEntry>) {
      const section = /^([^/]+)\//.exec(header.name)?.[1];
      const chunks = body as AsyncIterable<Uint8Array>;
      let isRead = false;
      const read = async function* () {
        isRead = true;
        try {
          yield* chunks;
        } catch (problem) {
          throw asBadArchive(file, problem);
        }
      };
      yield { name: header.name, size: header.size, section, body: read() };
      // Not `cancel`: of a body that has arrived whole it would end the one after it (modern-tar 0.8.6).
      if (!isRead) for await (const _ of chunks);
    }
  } catch (problem) {
    throw asBadArchive(file, problem);
  } finally {
    input.destroy();
    unpacked.destroy();
  }
}

const gzipMagic = 0x1f8b;

async function isGzip(file: string): Promise<boolean> {
  const opened = await open(file, "r");
  try {
    const { buffer, bytesRead } = await opened.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && buffer.readUInt16BE() === gzipMagic;
  } finally {
    await opened.close();
  }
}

/**
 * Converts errors of decompression and of the tar format; errors of the code that reads entries pass
 * unchanged.
 */
function asBadArchive(file: string, problem: unknown): unknown {
  const { code, syscall, message } = problem as NodeJS.ErrnoException;
  const isOfTar = /tar|archive|checksum|header/i.test(message);
  const isOfReading = /^(Z_|ZSTD_|ERR_)/.test(String(code)) || syscall === "read" || isOfTar;
  if (!isOfReading || problem instanceof BadArchive) return problem;
  return new BadArchive(`${file} is damaged or cut short: ${message}`);
}

/** All bytes of an entry, which must not have more than `bytesMax`. */
export async function bytesOf({ name, size, body }: ArchiveEntry, bytesMax: number): Promise<Buffer> {
  if (size > bytesMax)
    throw new BadArchive(`The entry ${name} has ${size} bytes; an entry of its kind has at most ${bytesMax}`);
  return Buffer.concat(await Array.fromAsync(body));
}

/** The values of the lines of an entry, with the number of each line and its length in bytes. */
export async function* jsonLinesOf({ name, body }: ArchiveEntry): AsyncGenerator<JsonLine> {
  let startBytes = 0;
  try {
    for await (const { text, line, endBytes } of linesOf(body, limits.importLineBytesMax)) {
      const value = parsed(`Line ${line} of the entry ${name}`, text, parseLine);
      yield { value, line, bytes: endBytes - startBytes };
      startBytes = endBytes;
    }
  } catch (problem) {
    throw problem instanceof LineTooLong ? new BadArchive(`The entry ${name}: ${problem.message}`) : problem;
  }
}

/**
 * Reads the whole archive and returns its manifest. Refuses a file in another or a newer format, and an
 * archive with missing or changed parts.
 */
export async function verified(file: string, onBytes?: (bytes: number) => void): Promise<ArchiveManifest> {
  const tallies = new Map<string, Tally>();
  let head: ArchiveHeader | undefined;
  let manifest: ArchiveManifest | undefined;
  for await (const entry of entriesOf(file, onBytes)) {
    if (!head) head = await headOf(file, entry);
    else if (entry.name === manifestName) manifest = parsed(file, await textOf(entry)) as ArchiveManifest;
    else if (entry.section) {
      const tally = tallies.get(entry.section) ?? new Tally();
      tallies.set(entry.section, tally);
      tally.beginEntry();
      for await (const chunk of entry.body) tally.add(chunk);
    }
  }
  if (!head) throw new BadArchive(`${file} is not an archive of a project`);
  if (!manifest) throw new BadArchive(`${file} is cut short: it ends without its manifest`);
  for (const section of manifest.sections) {
    const found = (tallies.get(section.name) ?? new Tally()).finish(section.name);
    if (found.sha256 !== section.sha256 || found.entries !== section.entries || found.bytes !== section.bytes)
      throw new BadArchive(`${file} is damaged: its ${section.name} are not what its manifest says`);
  }
  return manifest;
}

async function headOf(file: string, first: ArchiveEntry): Promise<ArchiveHeader> {
  const head = first.name === headName ? (parsed(file, await textOf(first)) as ArchiveHeader) : undefined;
  if (head?.format !== formatName) throw new BadArchive(`${file} is not an archive of a project`);
  if (head.version > formatVersion)
    throw new BadArchive(
      `${file} has the format version ${head.version}; this program reads up to ${formatVersion}`,
    );
  return head;
}

const textOf = async (entry: ArchiveEntry) => (await bytesOf(entry, limits.importLineBytesMax)).toString();

/** The server would convert numbers in metadata only after `JSON.stringify` has changed their text. */
const parseLine = (text: string): unknown => parseJsonWithPairs(text, ["metadata"], ["columns", "metadata"]);

function parsed(place: string, text: string, parse: (text: string) => unknown = parseJson): unknown {
  try {
    return parse(text);
  } catch (problem) {
    throw new BadArchive(`${place} is damaged: ${(problem as Error).message}`);
  }
}
