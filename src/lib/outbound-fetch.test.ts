// Requests for a project reach only public and allowed addresses, and a refusal looks like an unavailable
// server.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, isIPv6 } from "node:net";
import { after, before, describe, test } from "node:test";
import { addressPolicy } from "./address-policy.ts";
import { FetchRefused, type OutboundFetch, outboundFetch } from "./outbound-fetch.ts";

describe("an address", () => {
  const inside = [
    ...["0.0.0.0", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.255"],
    ...["168.63.129.16", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.168.1.1"],
    ...["198.18.0.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255"],
    ...["::", "::1", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "fec0::1", "2001::1", "2002:7f00:1::"],
    ...["::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:8.8.8.8", "64:ff9b::7f00:1", "::127.0.0.1"],
  ];
  const outside = ["8.8.8.8", "172.15.0.1", "172.32.0.1", "100.63.0.1", "169.253.0.1", "2606:4700::1111"];

  test("of the public internet is allowed, every other one is not", () => {
    const isAllowed = addressPolicy([]);
    for (const address of inside) assert.equal(isAllowed(address), false, address);
    for (const address of outside) assert.equal(isAllowed(address), true, address);
  });

  test("in a network of the operator is allowed, its neighbours are not", () => {
    const isAllowed = addressPolicy(["10.1.0.0/16", "192.168.1.7", "fd12::/16", "::1"]);
    for (const one of ["10.1.2.3", "192.168.1.7", "fd12::1", "::1", "::ffff:10.1.2.3", "8.8.8.8"])
      assert.equal(isAllowed(one), true, one);
    for (const one of ["10.2.0.1", "192.168.1.8", "fd13::1", "::2", "127.0.0.1", "::ffff:10.2.0.1"])
      assert.equal(isAllowed(one), false, one);
  });
});

let server: Server;
let port = 0;
let connections = 0;
let redirected = 0;
before(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      if (request.url === "/moved") response.writeHead(302, { location: "/target" }).end();
      else if (request.url === "/target") redirected += 1;
      else if (request.url === "/large") response.end("x".repeat(2_000));
      else {
        const { method, headers } = request;
        const body = Buffer.concat(chunks).toString();
        response.setHeader("set-cookie", ["a=1", "b=2"]).end(JSON.stringify({ method, headers, body }));
      }
    });
  }).on("connection", () => {
    connections += 1;
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  port = (server.address() as AddressInfo).port;
});
after(() => {
  server.closeAllConnections();
  server.close();
});

const bounds = { timeoutMs: 400, bytesMax: 1_000 };
const refusing = outboundFetch({ ...bounds, isAllowed: addressPolicy([]) });
const allowing = outboundFetch({ ...bounds, timeoutMs: 10_000, isAllowed: addressPolicy(["127.0.0.1"]) });

async function failureOf(fetch: OutboundFetch, address: string) {
  const startMs = performance.now();
  const problem = await fetch(address, {}).then(
    () => assert.fail(`${address} was reached`),
    (problem: FetchRefused) => problem,
  );
  assert.ok(problem instanceof FetchRefused, String(problem));
  return {
    tookMs: performance.now() - startMs,
    message: problem.message.replace(/\/\/[^/]+/, "//HOST"),
    reason: (problem.cause as Error | undefined)?.message,
  };
}

test("refused addresses and names, unknown names and closed ports fail alike, none is called", async () => {
  const before = connections;
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`, `[::ffff:127.0.0.1]:${port}`, "no.such.invalid"];
  for (const host of hosts) {
    const { tookMs, message } = await failureOf(refusing, `http://${host}/x`);
    assert.equal(message, "http://HOST/x cannot be reached");
    assert.ok(tookMs >= bounds.timeoutMs - 1, `${host} failed after ${tookMs} ms`);
  }
  const away = outboundFetch({ ...bounds, isAllowed: addressPolicy(["127.0.0.1"]) });
  const { tookMs, message } = await failureOf(away, "http://127.0.0.1:1/x");
  assert.equal(message, "http://HOST/x cannot be reached");
  assert.ok(tookMs >= bounds.timeoutMs - 1);
  assert.equal(connections, before);
});

test("the operator learns the reason at once", async () => {
  const fast = outboundFetch({ ...bounds, timeoutMs: 60_000, isAllowed: addressPolicy([]), failsFast: true });
  const { tookMs, reason } = await failureOf(fast, `http://localhost:${port}/x`);
  assert.match(reason!, /is not an address of the public internet; the setting MILLRACE_OUTBOUND_NETWORKS/);
  assert.ok(tookMs < 30_000);
});

test("a name is resolved once, and the connection goes to an address that was checked", async () => {
  const checked: string[] = [];
  const isAllowed = (address: string) => {
    checked.push(address);
    return !isIPv6(address);
  };
  const fetch = outboundFetch({ ...bounds, timeoutMs: 10_000, isAllowed });
  const from = connections;
  assert.equal((await fetch(`http://localhost:${port}/x`, {})).status, 200);
  assert.equal(connections, from + 1);
  assert.equal(new Set(checked).size, checked.length, "each address was checked once");
  assert.ok(checked.includes("127.0.0.1"));
});

test("an allowed address is called, and gets method, headers and body as they were given", async () => {
  const result = await allowing(`http://localhost:${port}/x`, {
    method: "POST",
    headers: { authorization: "Basic abc" },
    body: new URLSearchParams({ a: "b c" }),
  });
  assert.deepEqual(result.headers.getSetCookie(), ["a=1", "b=2"]);
  const { method, headers, body } = (await result.json()) as Record<string, Record<string, string>>;
  assert.deepEqual([method, body], ["POST", "a=b+c"]);
  assert.equal(headers!["authorization"], "Basic abc");
  assert.equal(headers!["content-type"], "application/x-www-form-urlencoded;charset=UTF-8");
  assert.equal(headers!["host"], `localhost:${port}`);
});

test("a redirect is not followed, and a large response is not read", async () => {
  assert.match(
    (await failureOf(allowing, `http://127.0.0.1:${port}/moved`)).message,
    /responds with a redirect$/,
  );
  assert.match(
    (await failureOf(allowing, `http://127.0.0.1:${port}/large`)).message,
    /more than 1000 bytes$/,
  );
  assert.equal(redirected, 0);
});
