// The webhook of a transformation: an address that receives a signed message when a run fails.
//
// The secret has the form of Standard Webhooks: `whsec_` and 24 to 64 bytes in base64. The record has it
// encrypted, and no response has it.
import { isIP } from "node:net";
import type { RequestContext, Services } from "../../../context.ts";
import { fail } from "../../../errors.ts";
import { limits } from "../../../limits.ts";

/** A webhook as a caller sends it. */
export interface WebhookInput {
  readonly url: string;
  readonly secret: string;
  /** Whether a run that completed with refusals sends a message too. */
  readonly onRefusals: boolean;
}

/** A webhook in the record of a transformation. */
export interface Webhook extends Omit<WebhookInput, "secret"> {
  readonly encryptedSecret: string;
}

const secretPrefix = "whsec_";

/** Refuses (400) an address that cannot be called, and a secret of another form. */
export function refuseUnusableWebhook({ url, secret }: WebhookInput, field: string): void {
  const parsed = URL.parse(url);
  const isHttp = parsed?.protocol === "https:" || parsed?.protocol === "http:";
  if (!isHttp || parsed.username !== "" || parsed.password !== "") {
    const expected = "an http or https address without a user and a password";
    throw fail("field-invalid", { field: `${field}.url`, expected, got: JSON.stringify(url) });
  }
  const bytes = keyOf(secret)?.length ?? 0;
  const [min, max] = [limits.webhookSecretBytesMin, limits.webhookSecretBytesMax];
  if (bytes >= min && bytes <= max) return;
  const expected = `${secretPrefix} and the base64 of ${min} to ${max} bytes`;
  throw fail("field-invalid", { field: `${field}.secret`, expected, got: `${secret.length} characters` });
}

function keyOf(secret: string): Buffer | undefined {
  if (!secret.startsWith(secretPrefix)) return undefined;
  const key = Buffer.from(secret.slice(secretPrefix.length), "base64");
  const isSame =
    key.toString("base64").replace(/=+$/, "") === secret.slice(secretPrefix.length).replace(/=+$/, "");
  return isSame ? key : undefined;
}

/**
 * The record of a webhook of the transformation with this id. Refuses (400) an address that is not allowed.
 */
export function webhookRecord(
  { transformations: { webhooks } }: RequestContext,
  { url, secret, onRefusals }: WebhookInput,
  { id, field }: { readonly id: number; readonly field: string },
): Webhook {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0 && !webhooks.isAllowed(host)) {
    const expected = "an address of the public internet, or one that MILLRACE_OUTBOUND_NETWORKS allows";
    throw fail("field-invalid", { field: `${field}.url`, expected, got: JSON.stringify(host) });
  }
  return { url, onRefusals, encryptedSecret: webhooks.secrets.encrypt(keyOf(secret)!, contextOf(id)) };
}

/** The key that signs; undefined if another installation has encrypted it. */
export const signingKey = (
  { transformations: { webhooks } }: Services,
  { encryptedSecret }: Webhook,
  id: number,
): Uint8Array | undefined => webhooks.secrets.decrypt(encryptedSecret, contextOf(id));

const contextOf = (id: number) => `webhook of transformation ${id}`;
