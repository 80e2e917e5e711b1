// Encrypts secrets of users for the catalog, with a key that only this installation has (AES-256-GCM).
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

const algorithm = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;

export interface SecretBox {
  /**
   * Each call returns another string. `context` names the place of the secret and is needed to decrypt it.
   */
  encrypt(secret: Uint8Array, context: string): string;
  /** Undefined if it was encrypted for another context or by another installation. */
  decrypt(encrypted: string, context: string): Uint8Array | undefined;
}

/** Encrypts and decrypts secrets with a key of 32 bytes. */
export const secretBox = (key: Uint8Array): SecretBox => ({
  encrypt(secret, context) {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(context));
    const bytes = Buffer.concat([nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()]);
    return bytes.toString("base64url");
  },
  decrypt(encrypted, context) {
    const bytes = Buffer.from(encrypted, "base64url");
    if (bytes.length < nonceBytes + tagBytes) return undefined;
    const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes))
      .setAAD(Buffer.from(context))
      .setAuthTag(bytes.subarray(-tagBytes));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, -tagBytes)), decipher.final()]);
    } catch {
      return undefined;
    }
  },
});
