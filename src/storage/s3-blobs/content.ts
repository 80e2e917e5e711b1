// Bytes to send to the store, with the checksums that the store verifies.
import { createHash, type Hash } from "node:crypto";
import { Readable } from "node:stream";

export interface Digest {
  /** In hexadecimal digits. */
  readonly md5: string;
  readonly sha256: string;
}

export interface Content extends Digest {
  readonly bytes: number;
  /** Each call reads all bytes again, for another attempt to send them. */
  readonly read: () => Readable;
}

export const digestOf = ({ md5, sha256 }: { readonly md5: Hash; readonly sha256: Hash }): Digest => ({
  md5: md5.digest("hex"),
  sha256: sha256.digest("hex"),
});

export function contentOf(textOrBytes: string | Uint8Array): Content {
  const bytes = typeof textOrBytes === "string" ? Buffer.from(textOrBytes) : textOrBytes;
  const hashes = { md5: createHash("md5").update(bytes), sha256: createHash("sha256").update(bytes) };
  return { bytes: bytes.length, ...digestOf(hashes), read: () => Readable.from([bytes]) };
}
