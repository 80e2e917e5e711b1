// A copy of a server without the data that a caller may not see. To that caller both return the same
// responses to all requests: status, headers and body, byte for byte.
import assert from "node:assert/strict";
import { test } from "node:test";
import { realSystem, type System } from "../../src/lib/system.ts";
import { times } from "../support/proof.ts";
import { startTestServer } from "../support/server.ts";
import { type Client, clientFor, type Reply, seenAs } from "./client.ts";
import { probe } from "./hidden-data-reads.ts";
import { odataRead } from "./odata-reads.ts";
import { aclOf, holds, may, mayKnow, Plant, type Rights, type Thing } from "./plant.ts";
import { Random } from "./random.ts";
import { isRefusal, type RandomCaller, type RandomRequest } from "./random-request.ts";
import { fillElsewhere, readsElsewhere } from "./rest-elsewhere.ts";
import { below, restRead } from "./rest-reads.ts";
import { restWrite } from "./rest-writes.ts";
import { accountFor, fill, someRights } from "./setting.ts";

const seed = Number(process.env["ORACLE_SEED"] ?? Date.now() % 2 ** 31);
const rounds = times(1, 200);
const requestsPerRound = times(600, 5_000);
const askedAtOnce = 6;
const startedMs = Date.UTC(2026, 0, 1);

/** The same in both servers: ids come from the clock, keys and the secret of the folder from chance. */
function systemOf(round: number): System {
  const random = new Random(seed + round);
  const randomBytes = (count: number) => Uint8Array.from({ length: count }, () => random.below(256));
  return { ...realSystem, nowMs: () => startedMs, randomBytes };
}

interface Pair {
  readonly one: Client;
  readonly copy: Client;
  /** The first server as its administrator sees it with the rights of the caller. */
  readonly seen?: Client;
}

for (let round = 0; round < rounds; round += 1)
  test(`a copy without hidden data returns the same responses (ORACLE_SEED=${seed + round})`, async () => {
    const open = () => startTestServer({ system: systemOf(round), baseUrl: "http://plant.example" });
    const [one, copy] = [await open(), await open()];
    try {
      const pairFor = (key: string): Pair => ({
        one: clientFor(one.baseUrl, key),
        copy: clientFor(copy.baseUrl, key),
      });
      assert.equal(one.key, copy.key);
      await compare(pairFor, one.key, new Random(seed + round));
    } finally {
      await Promise.all([one.close(), copy.close()]);
    }
  });

async function compare(pairFor: (key: string) => Pair, adminKey: string, random: Random): Promise<void> {
  const admin = pairFor(adminKey);
  const plant = new Plant();
  await fill(plant, random, onBoth(admin));
  await fillElsewhere(onBoth(admin), plant);
  const rights = limitedRights(plant, random);
  const { key, groupId } = await accountFor(onBoth(admin), rights);
  const clients = { ...pairFor(key), seen: seenAs(admin.one, groupId) };
  const removed = await removeHidden(plant, rights, admin.copy);
  const caller: RandomCaller = { plant, rights, random };
  const counts = { good: 0, refused: 0 };
  await severally(requestsPerRound, async () => {
    const reply = await same(clients, someRequest(caller), JSON.stringify(rights));
    counts[reply.status < 400 ? "good" : "refused"] += 1;
  });
  assert.ok(removed > 0 && counts.good > 0 && counts.refused > 0, JSON.stringify({ removed, ...counts }));
}

/** Random rights to see only a part of the series. */
function limitedRights(plant: Plant, random: Random): Rights {
  for (;;) {
    const rights = someRights(plant, random);
    const seen = plant.of("timeseries").filter((one) => may(plant, rights, "READ", one));
    if (seen.length > 0 && seen.length < plant.of("timeseries").length - 5) return rights;
  }
}

/** Sends each request to both servers, which must return the same response. */
const onBoth =
  ({ one, copy }: Pair): Client =>
  async (methodAndPath, body, headers) => {
    const reply = await one(methodAndPath, body, headers);
    const other = await copy(methodAndPath, body, headers);
    assert.equal(reply.text, other.text, methodAndPath);
    assert.ok(reply.status < 400, reply.text);
    return reply;
  };

type Request = Pick<RandomRequest, "ask" | "body" | "headers"> & { readonly seen?: RandomRequest["seen"] };

/** A read, or a refused write: an accepted one would make the two differ. */
function someRequest(caller: RandomCaller): Request {
  const { random, rights } = caller;
  const kind = random.below(10);
  if (kind < 4) return probe(caller);
  if (kind < 6) return restRead(caller);
  if (kind < 7) return random.pick(readsElsewhere)(caller);
  if (kind < 9) return odataRead(caller);
  for (;;) {
    const { seen: _, ...write } = restWrite(caller);
    const isRefused = !holds(rights, ...write.needs) || isRefusal(write.expected);
    if (isRefused && !namesTaken(caller, write)) return write;
  }
}

/**
 * The exception of docs/visibility.md: a name or an external id that must be unique is also refused when the
 * record with it is hidden.
 */
function namesTaken({ plant }: RandomCaller, { body }: Request): boolean {
  interface NamedItem {
    readonly name?: string;
    readonly externalId?: string;
  }
  type Named = { readonly [List in "items" | "series"]?: readonly NamedItem[] };
  const { series = [body as NamedItem], items = series } = (body ?? {}) as Named;
  const names = new Set(plant.of("timeseries").map(({ name }) => name));
  const externalIds = new Set([...plant.things.values()].map(({ externalId }) => externalId));
  return items.some((item) => names.has(item?.name ?? "") || externalIds.has(item?.externalId ?? ""));
}

async function same({ one, copy, seen }: Pair, request: Request, who: string): Promise<Reply> {
  const replies = [await seenBy(one, request), await seenBy(copy, request)];
  const what = `seed ${seed}: ${request.ask} ${JSON.stringify(request.body)} by ${who}`;
  assert.deepEqual(replies[0]!.seenReplies, replies[1]!.seenReplies, what);
  if (seen && isRead(request))
    assert.deepEqual((await seenBy(seen, request)).seenReplies, replies[0]!.seenReplies, what);
  return replies[0]!.reply;
}

/** Administrators cannot write, or start computations, with the rights of a group. */
const isRead = ({ ask }: Request): boolean =>
  /^GET |^POST \S+\/(search|byids|byreference|dataquery|dataframe|getdata|tagmatching)\b/.test(ask);

/** All that a client sees: the response, and the pages after it. */
async function seenBy(client: Client, { ask, body, headers, seen }: Request) {
  const seenReplies: object[] = [];
  // In the order of the requests: several may be on the way at once.
  const recording: Client = async (...request) => {
    const place = seenReplies.push({}) - 1;
    const reply = await client(...request);
    seenReplies[place] = {
      status: reply.status,
      headers: relevant(reply),
      text: reply.bytes.toString("latin1"),
    };
    return reply;
  };
  const reply = await recording(ask, body, headers);
  if (reply.status < 400) await seen?.(reply, recording);
  return { reply, seenReplies };
}

/** Headers that differ between requests or connections. */
const ofTheRequest = ["date", "x-request-id", "connection", "keep-alive"];

const relevant = ({ headers }: Reply) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !ofTheRequest.includes(name)));

/** Deletes all that the caller may not know of; returns how many records. */
async function removeHidden(plant: Plant, rights: Rights, admin: Client): Promise<number> {
  const isUsable = (thing: Thing) => may(plant, rights, "READ", thing) || may(plant, rights, "WRITE", thing);
  const kept = keptAssets(plant, rights, isUsable);
  let removed = 0;
  const remove = async (path: string, ids: readonly number[]) => {
    if (ids.length === 0) return;
    const reply = await admin(`POST ${below("0.5")}/${path}/delete`, { items: ids });
    assert.equal(reply.status, 200, reply.text);
    removed += ids.length;
  };
  for (const kind of ["timeseries", "events", "files", "sequences"] as const)
    await remove(
      kind,
      plant
        .of(kind)
        .filter((one) => !isUsable(one))
        .map(({ id }) => id),
    );
  const doomed = plant.of("assets").filter(({ id }) => !kept.has(id));
  const isTop = ({ parentId }: Thing) => parentId === undefined || kept.has(parentId);
  await remove(
    "assets",
    doomed.filter(isTop).map(({ id }) => id),
  );
  return removed;
}

/** Assets that the caller may know of, that visible records name, and all above those. */
function keptAssets(plant: Plant, rights: Rights, isUsable: (thing: Thing) => boolean): Set<number> {
  const kinds = Object.keys(aclOf) as (keyof typeof aclOf)[];
  const isKnown = ({ id }: Thing) =>
    kinds.some((kind) =>
      (["READ", "WRITE"] as const).some((action) => mayKnow(plant, rights, { kind, action }, id)),
    );
  const known = plant.of("assets").filter((asset) => isUsable(asset) || isKnown(asset));
  const named = [...plant.things.values()].filter(isUsable).flatMap(({ assetIds }) => assetIds);
  const ofTable = holds(rights, "rawAcl", "LIST") ? plant.tableAssetIds : [];
  const ids = [...known.map(({ id }) => id), ...named, ...ofTable];
  return new Set(ids.flatMap((id) => plant.lineage(id)));
}

/** Runs `work` so many times, a few at once. */
async function severally(count: number, work: () => Promise<void>): Promise<void> {
  let left = count;
  const worker = async () => {
    for (; left > 0; ) {
      left -= 1;
      await work();
    }
  };
  await Promise.all(Array.from({ length: askedAtOnce }, worker));
}
