// The part of the services that webhooks need: the policy of addresses, requests, and encryption of secrets.
import { type AddressPolicy, addressPolicy } from "../../../lib/address-policy.ts";
import { type OutboundFetch, outboundFetch } from "../../../lib/outbound-fetch.ts";
import { type SecretBox, secretBox } from "../../../lib/secret-box.ts";
import { limits } from "../../../limits.ts";

export interface WebhookParts {
  /** Which addresses may be called. */
  readonly isAllowed: AddressPolicy;
  readonly send: OutboundFetch;
  readonly secrets: SecretBox;
}

/**
 * The parts that send webhooks. `secret` has 32 bytes; `outboundNetworks` are permitted besides the internet.
 */
export function webhookParts(outboundNetworks: readonly string[], secret: Uint8Array): WebhookParts {
  const isAllowed = addressPolicy(outboundNetworks);
  const bounds = { timeoutMs: limits.webhookMsMax, bytesMax: limits.webhookResponseBytesMax };
  return { isAllowed, send: outboundFetch({ ...bounds, isAllowed }), secrets: secretBox(secret) };
}
