// Requests to servers that an administrator of a project named: short, small, without redirects, and only to
// addresses that a policy allows.
//
// A name is resolved once, and the connection goes to an address that was checked (no DNS rebinding). A
// refused address, an unknown name and a server that cannot be reached all fail at the deadline with one
// message, so that nobody can explore the server's network with them; `cause` has the reason, for logs.
import { lookup } from "node:dns";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import type { AddressPolicy } from "./address-policy.ts";

/** The other server cannot be reached, or answers slowly, with too much or with a redirect. */
export class FetchRefused extends Error {}

interface Sent {
  readonly method?: string;
  readonly headers?: NonNullable<RequestInit["headers"]>;
  readonly body?: RequestInit["body"] | undefined;
}

/** As `fetch`, with the whole body read; rejects on every fault of the network and with `FetchRefused`. */
export type OutboundFetch = (address: string, sent: Sent) => Promise<Response>;

interface OutboundRules {
  readonly isAllowed: AddressPolicy;
  readonly timeoutMs: number;
  readonly bytesMax: number;
  /** Whether a failure to connect is reported at once and not at the deadline: for the operator alone. */
  readonly failsFast?: boolean;
}

export function outboundFetch({ isAllowed, timeoutMs, bytesMax, failsFast }: OutboundRules): OutboundFetch {
  const send = senderTo(isAllowed);
  return async (address, { method = "GET", headers, body }) => {
    const request = new Request(address, {
      method,
      ...(headers && { headers }),
      ...(body != null && { body }),
    });
    const startMs = performance.now();
    const answer = await send(request, AbortSignal.timeout(timeoutMs)).catch(async (cause: unknown) => {
      if (!failsFast) await wait(startMs + timeoutMs - performance.now());
      throw new FetchRefused(`${address} cannot be reached`, { cause });
    });
    return wholeResponse(answer, { address, bytesMax });
  };
}

/** Sends a request on a connection of its own; resolves with the head of the response. */
function senderTo(isAllowed: AddressPolicy) {
  const lookupAllowed = lookupWithin(isAllowed);
  return async (request: Request, signal: AbortSignal): Promise<IncomingMessage> => {
    const url = new URL(request.url);
    // The lookup is not called for a host that is an address.
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

/** As `dns.lookup`, without the addresses that are not allowed. */
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
  answer: IncomingMessage,
  { address, bytesMax }: { readonly address: string; readonly bytesMax: number },
): Promise<Response> {
  const { statusCode: status = 0 } = answer;
  const refuse = (reason: string): never => {
    answer.destroy();
    throw new FetchRefused(`${address} answers with ${reason}`);
  };
  if (status < 200 || (status >= 300 && status < 400)) refuse("a redirect");
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) refuse(`more than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(answer.headersDistinct))
    for (const value of values) headers.append(name, value);
  const isBodiless = [204, 205].includes(status);
  return new Response(isBodiless ? null : Buffer.concat(chunks), { status, headers });
}
