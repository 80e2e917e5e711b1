// A proxy for a test server that loses responses and refuses requests on demand.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * "lose" forwards the request and closes the connection without a response; a status is sent instead of it.
 */
export type Fault = "lose" | number | undefined;

export interface Passed {
  readonly method: string;
  readonly path: string;
  readonly body: Buffer;
}

/** Lets `use` talk to the server at `target` through the proxy, whose address it is given. */
export async function withFaults<TestResponse>(
  target: string,
  faultOf: (request: Passed) => Fault | Promise<Fault>,
  use: (address: string) => Promise<TestResponse>,
): Promise<TestResponse> {
  const proxy = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const { method = "GET", url = "/", headers } = request;
    const fault = await faultOf({ method, path: url, body });
    if (typeof fault === "number") {
      response.writeHead(fault).end('{"error":{"message":"faulty"}}');
      return;
    }
    const sent = Object.entries(headers).filter(
      ([name]) => !/^(host|connection|transfer-encoding|content-length|expect)$/.test(name),
    );
    const passed = await fetch(target + url, {
      method,
      headers: Object.fromEntries(sent) as Record<string, string>,
      ...(method !== "GET" && { body }),
    });
    const answer = Buffer.from(await passed.arrayBuffer());
    if (fault === "lose") {
      response.destroy();
      return;
    }
    const type = passed.headers.get("content-type");
    response.writeHead(passed.status, {
      ...(type && { "content-type": type }),
      "content-length": answer.length,
    });
    response.end(answer);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  try {
    return await use(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
  } finally {
    proxy.closeAllConnections();
    proxy.close();
  }
}
