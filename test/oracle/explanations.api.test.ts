// Random callers: the explanation of a right agrees with the response to the caller's own request.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { times } from "../support/proof.ts";
import { startTestServer, type TestServer } from "../support/server.ts";
import { type Client, clientFor } from "./client.ts";
import { everyRight, type Kind, may, Plant, type Rights, type Thing } from "./plant.ts";
import { Random } from "./random.ts";
import { below } from "./rest-reads.ts";
import { move } from "./rest-writes.ts";
import { type Account, accountFor, fill, someRights } from "./setting.ts";

const seed = Number(process.env["ORACLE_SEED"] ?? Date.now() % 2 ** 31);
const rounds = times(4, 40);
const callersCount = 12;
const queriesPerRound = 250;

interface Explanation {
  readonly allowed: boolean;
  readonly reasons: readonly string[];
  readonly grants: readonly { readonly covers: boolean; readonly chain: readonly unknown[] }[];
  readonly securityCategories: readonly { readonly isMember: boolean }[];
}

interface Tested {
  readonly rights: Rights;
  readonly client: Client;
  /** The parameters that name the caller; one of them is sent. */
  readonly names: readonly string[];
}

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

test(`an explanation agrees with the request of the caller (ORACLE_SEED=${seed})`, async () => {
  const random = new Random(seed);
  const plant = new Plant();
  const admin = clientFor(server.baseUrl, server.key);
  await fill(plant, random, admin);
  const callers = await makeCallers(admin, plant, random);
  const counts = { allowed: 0, refused: 0 };
  for (let round = 0; round < rounds; round += 1) {
    for (let at = 0; at < queriesPerRound; at += 1) {
      const action = random.pick(["READ", "WRITE"] as const);
      const thing = random.pick([...plant.things.values()]);
      const caller = random.pick(callers);
      const isAllowed = await compare(admin, { thing, action, caller, name: random.pick(caller.names) });
      assert.equal(isAllowed, may(plant, caller.rights, action, thing));
      counts[isAllowed ? "allowed" : "refused"] += 1;
    }
    for (let at = 0; at < 5; at += 1) await moveAsset(admin, plant, random);
  }
  assert.ok(counts.allowed > 100 && counts.refused > 100, JSON.stringify(counts));
});

/** Callers in one group, and callers in two of these groups. */
async function makeCallers(admin: Client, plant: Plant, random: Random): Promise<Tested[]> {
  const single: (Account & { readonly rights: Rights })[] = [];
  for (let at = 0; at < callersCount; at += 1) {
    const rights = someRights(plant, random);
    single.push({ ...(await accountFor(admin, rights)), rights });
  }
  const made = async (path: string, item: object) =>
    (await admin(`POST ${below("0.6")}/${path}`, { items: [item] })).json.data.items[0]!;
  const callers = single.map(({ id, groupId, key, rights }) => ({
    ...{ rights, client: clientFor(server.baseUrl, key) },
    names: [`userId=${id}`, `groupIds=[${groupId}]`],
  }));
  for (let at = 0; at < callersCount; at += 2) {
    const groups = [single[at]!.groupId, single[at + 1]!.groupId];
    const { id } = await made("users", { uniqueName: `pair ${at}`, groups });
    const { id: keyId, value } = await made("apikeys", { userId: id });
    callers.push({
      rights: [...single[at]!.rights, ...single[at + 1]!.rights],
      client: clientFor(server.baseUrl, value as string),
      names: [`userId=${id}`, `apiKeyId=${keyId}`, `groupIds=[${groups}]`],
    });
  }
  return callers;
}

interface Comparison {
  readonly thing: Thing;
  readonly action: "READ" | "WRITE";
  readonly caller: Tested;
  readonly name: string;
}

/** Compares the verdict with the response to the caller; returns the verdict. */
async function compare(admin: Client, { thing, action, caller, name }: Comparison): Promise<boolean> {
  const { kind, id } = thing;
  const at = below("0.6");
  const query = `resource=${kind}&id=${id}&action=${action}&${name}`;
  const explained = await admin(`GET ${at}/access/explanation?${query}`);
  assert.equal(explained.status, 200, explained.text);
  const explanation = explained.json.data as unknown as Explanation;
  const own = await requestOwn(caller.client, { kind, id, action });
  const what = `seed ${seed}: ${query} ${explained.text} but ${own.text}`;
  assert.equal(explanation.allowed, own.status === 200, what);
  assert.equal(explanation.reasons[0]!.startsWith("Yes"), explanation.allowed, what);
  const isCovered = explanation.grants.some(({ covers }) => covers);
  const isMember = explanation.securityCategories.every((category) => category.isMember);
  assert.equal(isCovered && isMember, explanation.allowed, what);
  if (explanation.grants.length === 0) assert.equal(own.status, 403, what);
  for (const { covers, chain } of explanation.grants) assert.ok(covers || chain.length === 0, what);
  return explanation.allowed;
}

/** Reads the record, or changes nothing of it, which needs the right to write. */
function requestOwn(
  client: Client,
  { kind, id, action }: { readonly kind: Kind; readonly id: number; readonly action: "READ" | "WRITE" },
) {
  const path = `${below("0.6")}/${kind}/${id}`;
  return action === "READ" ? client(`GET ${path}`) : client(`POST ${path}/update`, {});
}

/** An administrator moves an asset, so that scopes contain other records. */
async function moveAsset(admin: Client, plant: Plant, random: Random): Promise<void> {
  const { ask, body, changed } = move({ plant, random, rights: everyRight });
  const reply = await admin(ask, body);
  if (reply.status < 400) await changed?.(reply, admin);
}
