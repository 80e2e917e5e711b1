// Source packages for tests of model hosting: archives in the format of `setup.py sdist`, and broken ones.
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { gzipSync } from "node:zlib";
import { packTar } from "modern-tar";

export type Entry = Parameters<typeof packTar>[0][number];

export const archive = async (entries: readonly Entry[]): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(gzipSync(await packTar(entries)));

export const fileEntry = (name: string, text: string): Entry => ({
  header: { name, size: Buffer.byteLength(text), type: "file" },
  body: text,
});

/** The package in `test/fixtures/models/<name>`. */
export function fixturePackage(name: string): Promise<Uint8Array<ArrayBuffer>> {
  const folder = join(import.meta.dirname, "../fixtures/models", name);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const entries = files.map(({ parentPath, name: file }) => {
    const path = join(parentPath, file);
    return fileEntry(`${name}-0.1.0/${relative(folder, path)}`, readFileSync(path, "utf8"));
  });
  return archive(entries);
}

/** A package `m` with this `model.py`. */
export const packageOf = (code: string): Promise<Uint8Array<ArrayBuffer>> =>
  archive([fileEntry("m-1.0/m/__init__.py", ""), fileEntry("m-1.0/m/model.py", code)]);
