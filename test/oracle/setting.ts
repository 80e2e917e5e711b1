// The setup of the oracle test: a random plant on a real server, and callers with random rights.
import type { Acl, Action, Capability, CapabilityScope } from "../../src/access/capabilities.ts";
import type { Client } from "./client.ts";
import { aclOf, type Kind, type Plant, type Rights, type Thing } from "./plant.ts";
import type { Random } from "./random.ts";
import { below, pointTimes, words } from "./rest-reads.ts";

const assetsCount = 60;
const thingsCount = { timeseries: 70, events: 50, files: 30, sequences: 20 } as const;

/** Creates a forest of assets, and records linked to some of them. */
export async function fill(plant: Plant, random: Random, admin: Client): Promise<void> {
  const names = ["secret", "safety", "contract"].map((name) => ({ name }));
  const categories = await admin(`POST ${below("0.6")}/securitycategories`, { items: names });
  plant.categoryIds.push(...categories.json.data.items.map(({ id }) => id));
  await plantForest(plant, random, admin);
  for (const kind of ["timeseries", "events", "sequences"] as const)
    await hang(plant, random, { admin, kind });
  for (let at = 0; at < thingsCount.files; at += 1) {
    const { name, ...given } = draft(plant, random, "files");
    const { externalId, labels, assetIds } = given;
    const body = { fileName: name, externalId, labels, assetIds };
    const { json } = await admin(`POST ${below("0.5")}/files/initupload`, body);
    const { fileId: id } = json.data as unknown as { fileId: number };
    plant.things.set(id, { ...given, id, name });
  }
}

async function plantForest(plant: Plant, random: Random, admin: Client): Promise<void> {
  for (let left = assetsCount; left > 0; left -= 10) {
    const items = Array.from({ length: 10 }, () => {
      const held = plant.of("assets");
      const parentId = held.length > 0 && random.chance(0.9) ? random.pick(held).id : undefined;
      const name = plant.freshName(random.pick(words));
      const common = { externalId: `x ${name}`, labels: [random.pick(words)] };
      return { name, ...common, ...(parentId !== undefined && { parentId }) };
    });
    const { json } = await admin(`POST ${below("0.6")}/assets`, { items });
    for (const [at, { id }] of json.data.items.entries())
      plant.things.set(id, {
        kind: "assets",
        id,
        assetIds: [id],
        categories: [],
        parentId: undefined,
        ...items[at]!,
      });
  }
}

function draft(plant: Plant, random: Random, kind: Kind): Omit<Thing, "id"> {
  const isOfOne = kind === "timeseries" || kind === "sequences";
  const assetIds = random.some(plant.of("assets"), isOfOne ? 1 : 3).map(({ id }) => id);
  const isGuarded = kind === "timeseries" && random.chance(0.3);
  const name = plant.freshName(random.pick(words));
  const labels = kind === "sequences" ? [] : [random.pick(words)];
  const categories = isGuarded ? random.some(plant.categoryIds, 2) : [];
  return { kind, name, externalId: `x ${name}`, labels, assetIds, categories };
}

type Hung = "timeseries" | "events" | "sequences";

async function hang(plant: Plant, random: Random, { admin, kind }: { admin: Client; kind: Hung }) {
  const drafts = Array.from({ length: thingsCount[kind] }, () => draft(plant, random, kind));
  const items = drafts.map((one) => bodyOf[kind](one));
  const { json } = await admin(`POST ${below("0.6")}/${kind}`, { items });
  const made = json.data.items.map(({ id }, at): Thing => ({ ...drafts[at]!, id }));
  for (const one of made) plant.things.set(one.id, one);
  if (kind === "timeseries") await givePoints(admin, made);
}

const bodyOf = {
  timeseries: ({ name, externalId, labels, assetIds: [assetId], categories }: Omit<Thing, "id">) => ({
    ...{ name, externalId, labels, assetId },
    securityCategories: categories,
  }),
  events: ({ name, externalId, labels, assetIds }: Omit<Thing, "id">) => ({
    ...{ description: name, externalId, labels, assetIds },
  }),
  sequences: ({ name, externalId, assetIds: [assetId] }: Omit<Thing, "id">) => ({
    ...{ name, externalId, assetId },
    columns: [{ name: "a", externalId: "a", valueType: "DOUBLE" }],
  }),
};

/** Every series has its own id as its values, so that reading another's values is noticed. */
export async function givePoints(admin: Client, series: readonly { readonly id: number }[]): Promise<void> {
  const items = series.map(({ id }) => ({
    id,
    datapoints: pointTimes.map((timestamp) => ({ timestamp, value: id })),
  }));
  await admin(`POST ${below("0.5")}/timeseries/data`, { items });
}

/** A caller's capabilities: some kinds, each for everything, for a few subtrees, or twice. */
export function someRights(plant: Plant, random: Random): Rights {
  const assetIds = [...plant.of("assets").map(({ id }) => id), 5];
  const scope = (): CapabilityScope =>
    random.chance(0.25)
      ? { kind: "all" }
      : { kind: "subtrees", assetIds: random.some(assetIds, 6).toSpliced(0, 0, random.pick(assetIds)) };
  const both: readonly Action[][] = [
    ["READ", "WRITE"],
    ["READ", "WRITE"],
  ];
  const grant = (acl: Acl): Capability[] => {
    if (random.chance(0.08)) return [];
    const actions: readonly Action[] = random.pick([["READ"], ...both, ...both, ["WRITE"]]);
    const one = { acl, actions, scope: scope() };
    return random.chance(0.3) ? [one, { acl, actions: ["READ"], scope: scope() }] : [one];
  };
  const memberOf = (ids: readonly number[]): Capability => ({
    acl: "securityCategoriesAcl",
    actions: ["MEMBEROF"],
    scope: random.chance(0.2) ? { kind: "all" } : { kind: "ids", ids },
  });
  const memberships = random.some(plant.categoryIds, 2).map((id) => memberOf([id]));
  const elsewhere: readonly Capability[] = [
    { acl: "relationshipsAcl", actions: ["READ"], scope: { kind: "all" } },
    { acl: "trendsAcl", actions: ["READ"], scope: { kind: "all" } },
    { acl: "connectorsAcl", actions: ["READ"], scope: { kind: "all" } },
    { acl: "auditAcl", actions: ["READ"], scope: { kind: "all" } },
    { acl: "projectsAcl", actions: ["UPDATE"], scope: { kind: "all" } },
    { acl: "suggestionsAcl", actions: random.pick(both), scope: { kind: "all" } },
    { acl: "transformationsAcl", actions: ["READ"], scope: { kind: "all" } },
    { acl: "rawAcl", actions: ["READ"], scope: { kind: "all" } },
    { acl: "rawAcl", actions: ["LIST"], scope: { kind: "all" } },
    { acl: "analyticsAcl", actions: ["EXECUTE", "READ"], scope: { kind: "all" } },
  ];
  return [...Object.values(aclOf).flatMap(grant), ...memberships, ...random.some(elsewhere, 8)];
}

/** A new account in a new group that grants these rights. */
export interface Account {
  readonly id: number;
  readonly groupId: number;
  readonly key: string;
}

export async function accountFor(admin: Client, rights: Rights): Promise<Account> {
  const at = below("0.6");
  const made = async (path: string, item: object) =>
    (await admin(`POST ${at}/${path}`, { items: [item] })).json.data.items[0]!;
  const capabilities = rights.map(({ acl, actions, scope }) => ({ [acl]: { actions, scope: sent(scope) } }));
  const { id: groupId } = await made("groups", { name: "some", capabilities });
  accounts += 1;
  const { id } = await made("users", { uniqueName: `caller ${accounts}`, groups: [groupId] });
  const { value } = await made("apikeys", { userId: id });
  return { id, groupId, key: value as string };
}

let accounts = 0;

function sent(scope: CapabilityScope): object {
  if (scope.kind === "all") return { all: {} };
  return scope.kind === "ids"
    ? { idscope: { ids: scope.ids } }
    : { assetIdScope: { subtreeIds: "assetIds" in scope ? scope.assetIds.map(String) : [] } };
}
