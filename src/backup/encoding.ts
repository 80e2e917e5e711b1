// The names and the form of files in a backup folder: checksums and plain bytes, or, with a passphrase,
// keyed checksums and encrypted bytes.
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  randomBytes,
  scryptSync,
} from "node:crypto";
import { StartRefused } from "../data-folder.ts";

export interface ChunkEncoding {
  /** The name of bytes: equal for equal bytes. Without the key it tells nothing about them. */
  nameOf(bytes: Uint8Array): string;
  encode(name: string, bytes: Uint8Array): Uint8Array;
  /** Throws when the bytes are not those that were encoded under this name. */
  decode(name: string, stored: Uint8Array): Uint8Array;
}

export const plainEncoding: ChunkEncoding = {
  nameOf: (bytes) => createHash("sha256").update(bytes).digest("hex"),
  encode: (_name, bytes) => bytes,
  decode: (_name, stored) => stored,
};

/** How the keys are derived from the passphrase; it is in the clear in the backup folder. */
export interface Encryption {
  readonly cipher: "aes-256-gcm";
  readonly kdf: "scrypt";
  readonly cost: number;
  readonly blockSize: number;
  readonly salt: string;
  /** Detects a wrong passphrase. */
  readonly check: string;
}

/** 128 MiB of memory and a third of a second for each guess. */
const cost = 2 ** 17;
const blockSize = 8;
const [nonceBytes, tagBytes] = [12, 16];

export function newEncryption(passphrase: string): Encryption {
  const salt = randomBytes(16).toString("base64url");
  const settings = { cipher: "aes-256-gcm", kdf: "scrypt", cost, blockSize, salt } as const;
  return { ...settings, check: checkOf(keysOf(passphrase, settings)) };
}

/** Derives the keys from the passphrase. Throws `StartRefused` for a wrong one. */
export function encodingWith(passphrase: string, encryption: Encryption): ChunkEncoding {
  const keys = keysOf(passphrase, encryption);
  if (checkOf(keys) !== encryption.check)
    throw new StartRefused("The passphrase is not the one of this backup folder");
  const nameOf = (bytes: Uint8Array) => createHmac("sha256", keys.names).update(bytes).digest("hex");
  // Each name has a key of its own, so that random nonces never repeat under one key.
  const keyOf = (name: string) => createHmac("sha256", keys.content).update(name).digest();
  return {
    nameOf,
    encode(name, bytes) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv("aes-256-gcm", keyOf(name), nonce);
      const stored = [nonce, cipher.update(bytes), cipher.final()];
      return Buffer.concat([...stored, cipher.getAuthTag()]);
    },
    decode(name, stored) {
      const end = stored.length - tagBytes;
      if (end < nonceBytes) throw new Error("it is too short");
      const decipher = createDecipheriv("aes-256-gcm", keyOf(name), stored.subarray(0, nonceBytes));
      decipher.setAuthTag(stored.subarray(end));
      return Buffer.concat([decipher.update(stored.subarray(nonceBytes, end)), decipher.final()]);
    },
  };
}

interface Keys {
  readonly names: Buffer;
  readonly content: Buffer;
}

function keysOf(passphrase: string, { cost: N, blockSize: r, salt }: Omit<Encryption, "check">): Keys {
  const options = { N, r, p: 1, maxmem: 256 * N * r };
  const derived = scryptSync(passphrase, Buffer.from(salt, "base64url"), 64, options);
  return { names: derived.subarray(0, 32), content: derived.subarray(32) };
}

const checkOf = ({ names }: Keys): string =>
  createHmac("sha256", names).update("passphrase").digest("base64url");
