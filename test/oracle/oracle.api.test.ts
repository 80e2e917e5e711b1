// Thousands of random requests by random callers; each response equals that of a naive model of the rights.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer } from "../support/server.ts";
import { type Client, clientFor, seenAs, sessionFor } from "./client.ts";
import { influxRead } from "./influx-reads.ts";
import { influxWrite } from "./influx-writes.ts";
import { odataRead } from "./odata-reads.ts";
import { everyRight, holds, Plant, type Rights } from "./plant.ts";
import { Random } from "./random.ts";
import { type Dialect, isRefusal, type RandomRequest, refused } from "./random-request.ts";
import { fillElsewhere, readsElsewhere, readsOfJobs } from "./rest-elsewhere.ts";
import { restRead } from "./rest-reads.ts";
import { move, restWrite } from "./rest-writes.ts";
import { fillRetention, retentionReads } from "./retention.ts";
import { accountFor, fill, someRights } from "./setting.ts";

/** A further protocol sends its own requests for the same plant. */
const dialects: readonly Dialect[] = [
  { name: "REST", reads: restRead, writes: restWrite, share: 0.65 },
  {
    name: "REST elsewhere",
    reads: (caller) => caller.random.pick([...readsElsewhere, ...readsOfJobs, ...retentionReads])(caller),
    share: 0.1,
  },
  { name: "OData", reads: odataRead, share: 0.2 },
  { name: "InfluxDB", reads: influxRead, writes: influxWrite, share: 0.05 },
];

const rounds = 5;
const readsPerRound = 2_000;
const writesPerRound = 160;
const callersCount = 14;
const askedAtOnce = 6;

const seed = Number(process.env["ORACLE_SEED"] ?? Date.now() % 2 ** 31);

interface Asking {
  readonly rights: Rights;
  /** With the API key of the caller, and with the cookie of a session. */
  readonly clients: readonly Client[];
  /** An administrator that sees the plant with these rights; the administrator itself has none. */
  readonly seen?: Client;
}

let server: TestServer;
before(async () => {
  server = await startTestServer({ frontThreads: 2 });
});
after(() => server.close());

test(`what a caller may see is all that any route shows (ORACLE_SEED=${seed})`, async () => {
  const random = new Random(seed);
  const plant = new Plant();
  const admin = clientFor(server.baseUrl, server.key);
  await fill(plant, random, admin);
  await fillElsewhere(admin, plant);
  await fillRetention(admin, plant);
  const everybody = Array.from({ length: callersCount }, () => someRights(plant, random));
  const clientsFor = async (key: string) => [
    clientFor(server.baseUrl, key),
    await sessionFor(server.baseUrl, key),
  ];
  const callers: Asking[] = [{ rights: everyRight, clients: await clientsFor(server.key) }];
  for (const rights of everybody) {
    const { key, groupId } = await accountFor(admin, rights);
    callers.push({ rights, clients: await clientsFor(key), seen: seenAs(admin, groupId) });
  }
  let [requestCount, refusals] = [0, 0];
  const put = async (question: RandomRequest, { rights, clients }: Asking) => {
    requestCount += 1;
    const client = random.pick(clients);
    if (isRefusal(await check(question, { rights, client, admin }))) refusals += 1;
  };
  for (let round = 0; round < rounds; round += 1) {
    for (const { reads, share } of dialects)
      await severally(reads ? readsPerRound * share : 0, () => {
        const caller = random.pick(callers);
        const question = reads!({ plant, random, rights: caller.rights });
        const { seen } = caller;
        const isSeen = seen && question.needs[0] !== "analyticsAcl" && random.chance(0.3);
        return put(question, isSeen ? { ...caller, clients: [seen] } : caller);
      });
    for (const { writes } of dialects)
      for (let at = 0; writes && at < writesPerRound; at += 1) {
        const caller = random.pick(callers);
        const question = writes({ plant, random, rights: caller.rights });
        if (caller.seen) await refuseSeen(caller.seen, question);
        await put(question, caller);
      }
    for (let at = 0; at < 5; at += 1) await put(move({ plant, random, rights: everyRight }), callers[0]!);
  }
  assert.ok(requestCount >= 10_000, `${requestCount} questions`);
  assert.ok(
    refusals > requestCount / 10 && refusals < requestCount / 2,
    `${refusals} refusals of ${requestCount}`,
  );
});

/**
 * Sends a request, compares, and changes the plant if the response is successful; returns the expectation.
 */
async function check(
  question: RandomRequest,
  { rights, client, admin }: { readonly rights: Rights; readonly client: Client; readonly admin: Client },
): Promise<unknown> {
  const { ask, body, headers, needs, seen, changed } = question;
  const [acl, action] = needs;
  const forbidden = question.refusals ? { status: 403 } : refused("forbidden", { acl, action });
  const expected = holds(rights, acl, action) ? question.expected : forbidden;
  const reply = await client(ask, body, headers);
  const { status, json } = reply;
  const refusal = question.refusals ? { status } : { status, error: json?.error };
  const got = status >= 400 ? refusal : await seen(reply, client);
  const who = rights === everyRight ? "an administrator" : JSON.stringify(rights);
  const what = `seed ${seed}: ${ask} ${JSON.stringify(body)} by ${who}`;
  assert.deepEqual(got, expected, what);
  if (status < 400) await changed?.(reply, admin);
  return expected;
}

/** A write with the rights of a group is refused; if it changed the plant, later reads would show it. */
async function refuseSeen(seen: Client, { ask, body, headers, refusals }: RandomRequest): Promise<void> {
  const { status, json } = await seen(ask, body, headers);
  const expected = refused("see-as-read-only", {});
  if (refusals) assert.equal(status, expected.status, ask);
  else assert.deepEqual({ status, error: json.error }, expected, ask);
}

/** Runs `work` so many times, a few at once. */
async function severally(times: number, work: () => Promise<void>): Promise<void> {
  let left = times;
  const worker = async () => {
    for (; left > 0; ) {
      left -= 1;
      await work();
    }
  };
  await Promise.all(Array.from({ length: askedAtOnce }, worker));
}
