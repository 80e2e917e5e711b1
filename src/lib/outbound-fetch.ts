// Sends requests to servers that an administrator of a project named: with a deadline, a bound on the
// response, no redirects, and only to addresses that a policy allows.
//
// A name is resolved once, and the connection goes to the address that was checked (no DNS rebinding). A
// refused address, an unknown name and an unreachable server all fail at the deadline with the same message,
// so that no caller can explore the server's network; `cause` has the reason, for logs.
import { lookup } from "node:dns";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import type { AddressPolicy } from "./address-policy.ts";

/** The other server cannot be reached, is too slow, or responds with too many bytes or a redirect. */
export class FetchRefused extends Error {}

/** No response came until the deadline, or the address is not allowed. */
export class Unreachable extends FetchRefused {}

interface OutboundRequest {
  readonly method?: string;
  readonly headers?: NonNullable<RequestInit["headers"]>;
  readonly body?: RequestInit["body"] | undefined;
  /** Ends the request. */
  readonly signal?: AbortSignal;
}

/** Like `fetch`, but reads the whole body. Rejects with `FetchRefused`. */
export type OutboundFetch = (address: string, request: OutboundRequest) => Promise<Response>;

interface OutboundRules {
  readonly isAllowed: AddressPolicy;
  readonly timeoutMs: number;
  readonly bytesMax: number;
  /** Reports a failure to connect at once and not at the deadline. Only for the operator. */
  readonly failsFast?: boolean;
}

export function outboundFetch({ isAllowed, timeoutMs, bytesMax, failsFast }: OutboundRules): OutboundFetch {
  const send = senderTo(isAllowed);
  return async (address, { method = "GET", headers, body, signal }) => {
    const request = new Request(address, {
      method,
      ...(headers && { headers }),
      ...(body != null && { body }),
    });
    const startMs = performance.now();
    const deadline = AbortSignal.timeout(timeoutMs);
    const ended = signal ? AbortSignal.any([deadline, signal]) : deadline;
    const response = await send(request, ended).catch(async (cause: unknown) => {
      if (!failsFast) await until(startMs + timeoutMs, signal);
      throw new Unreachable(`${address} cannot be reached`, { cause });
    });
    return wholeResponse(response, { address, bytesMax });
  };
}

/** Timers of a busy loop fire some milliseconds early, so that a single one may end before the deadline. */
async function until(deadlineMs: number, signal: AbortSignal | undefined): Promise<void> {
  for (let leftMs = deadlineMs - performance.now(); leftMs > 0; leftMs = deadlineMs - performance.now())
    if (await wait(Math.ceil(leftMs), false, signal && { signal }).catch(() => true)) return;
}

/** Sends a request on a new connection; resolves with the head of the response. */
function senderTo(isAllowed: AddressPolicy) {
  const lookupAllowed = lookupWithin(isAllowed);
  return async (request: Request, signal: AbortSignal): Promise<IncomingMessage> => {
    const url = new URL(request.url);
    // `lookup` is not called for a host that is an IP address.
    const host = url.hostname.replace(/^\[|\]$/g, "");
    if (isIP(host) !== 0 && !isAllowed(host)) throw new AddressRefused([host]);
    const body = Buffer.from(await request.arrayBuffer());
    const headers = { ...Object.fromEntries(request.headers), "accept-encoding": "identity" };
    const { method } = request;
    const sent = (url.protocol === "https:" ? httpsRequest : httpRequest)(url, {
      ...{ method, headers, signal, agent: false, lookup: lookupAllowed },
    });
    return new Promise((resolve, reject) => {
      sent.on("response", resolve).on("error", reject).end(body);
    });
  };
}

class AddressRefused extends Error {
  constructor(addresses: readonly string[]) {
    super(
      `${addresses.join(", ")} is not an address of the public internet; ` +
        "the setting MILLRACE_OUTBOUND_NETWORKS allows others",
    );
  }
}

/** Like `dns.lookup`, but returns only allowed addresses. */
const lookupWithin =
  (isAllowed: AddressPolicy): LookupFunction =>
  (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (problem, found) => {
      const allowed = problem ? [] : found.filter(({ address }) => isAllowed(address));
      const [first] = allowed;
      if (problem || !first) callback(problem ?? new AddressRefused(found.map(({ address }) => address)), []);
      else if (options.all) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };

async function wholeResponse(
  response: IncomingMessage,
  { address, bytesMax }: { readonly address: string; readonly bytesMax: number },
): Promise<Response> {
  const { statusCode: status = 0 } = response;
  const refuse = (reason: string): never => {
    response.destroy();
    throw new FetchRefused(`${address} responds with ${reason}`);
  };
  if (status < 200 || (status >= 300 && status < 400)) refuse("a redirect");
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) refuse(`more than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(response.headersDistinct))
    for (const value of values) headers.append(name, value);
  const isBodiless = [204, 205].includes(status);
  return new Response(isBodiless ? null : Buffer.concat(chunks), { status, headers });
}
