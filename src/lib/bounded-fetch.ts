// Requests to servers that an administrator named: short, small, and never passed on to another address.

/** The other server did not answer as it should: slowly, too much, or with a redirect. */
export class FetchRefused extends Error {}

interface Bounds {
  readonly timeoutMs: number;
  readonly bytesMax: number;
}

interface Sent {
  readonly method?: string;
  readonly headers?: NonNullable<RequestInit["headers"]>;
  readonly body?: RequestInit["body"] | undefined;
}

/**
 * As `fetch`, with the whole body read; rejects on what `FetchRefused` says and on every fault of the net.
 */
export async function boundedFetch(
  address: string,
  { method = "GET", headers, body }: Sent,
  { timeoutMs, bytesMax }: Bounds,
): Promise<Response> {
  const answer = await fetch(address, {
    method,
    ...(headers && { headers }),
    ...(body != null && { body }),
    redirect: "manual",
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (answer.status >= 300 && answer.status < 400) {
    await answer.body?.cancel();
    throw new FetchRefused(`${address} answers with a redirect`);
  }
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new FetchRefused(`${address} answers with more than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  const isBodiless = [204, 205].includes(answer.status);
  const whole = isBodiless ? null : Buffer.concat(chunks);
  return new Response(whole, { status: answer.status, headers: packedNoMore(answer.headers) });
}

/** The body has been inflated on its way. */
function packedNoMore(headers: Headers): Headers {
  const copy = new Headers(headers);
  copy.delete("content-encoding");
  copy.delete("content-length");
  return copy;
}
