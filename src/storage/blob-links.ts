// Signs links to blobs. A token holds purpose, key and expiry as plain text, and an HMAC over them.
import { createHmac, timingSafeEqual } from "node:crypto";
import type { BlobLink } from "./blobs.ts";

export interface LinkSigner {
  /** One path segment. */
  sign(link: BlobLink): string;
  /** Undefined for a token that this signer has not signed. */
  read(token: string): BlobLink | undefined;
}

const tokenFormat = /^(upload|download)-(\d{1,16})-(\d{1,16})-(\d{1,16})-([\w-]{43})$/;

export function linkSigner(secret: Uint8Array): LinkSigner {
  const macOf = (payload: string) => createHmac("sha256", secret).update(payload).digest("base64url");
  return {
    sign({ purpose, key, expiresMs }) {
      const payload = `${purpose}-${key.project}-${key.id}-${expiresMs}`;
      return `${payload}-${macOf(payload)}`;
    },
    read(token) {
      const [, purpose, project, id, expiresMs, mac = ""] = tokenFormat.exec(token) ?? [];
      if (!purpose) return undefined;
      const payload = `${purpose}-${project}-${id}-${expiresMs}`;
      if (!timingSafeEqual(Buffer.from(mac), Buffer.from(macOf(payload)))) return undefined;
      return {
        purpose: purpose as BlobLink["purpose"],
        key: { project: Number(project), id: Number(id) },
        expiresMs: Number(expiresMs),
      };
    },
  };
}
