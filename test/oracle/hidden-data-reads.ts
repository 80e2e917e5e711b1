// Requests without expected responses: they are compared between a server and its copy without hidden data.
import { type Kind, may } from "./plant.ts";
import type { RandomCaller } from "./random-request.ts";
import { anyId, below, words } from "./rest-reads.ts";

/** A request without an expected response. */
export interface Probe {
  readonly ask: string;
  readonly body?: unknown;
}

const root = "/odata/v1/projects/demo";
const kinds: readonly Kind[] = ["assets", "timeseries", "events", "files", "sequences"];
const sets = { assets: "Assets", timeseries: "Timeseries", events: "Events", files: "Files" } as const;
const encoded = (text: string) => encodeURIComponent(text).replaceAll("'", "%27");

/** A name, mostly of something that the caller may not see, or a part of it. */
function someName({ plant, rights, random }: RandomCaller, kind: Kind): string {
  const all = plant.of(kind);
  const hidden = all.filter((one) => !may(plant, rights, "READ", one));
  const { name } = random.pick(hidden.length > 0 && random.chance(0.7) ? hidden : all);
  return random.pick([name, name.slice(0, -1), name.slice(-3), name.split(" ")[0]!]);
}

/** Tags near to the names of assets that may be hidden. */
function tagMatching(caller: RandomCaller): Probe {
  const tagIds = Array.from({ length: 3 }, () => someName(caller, "assets"));
  const metadata = { fuzzyThreshold: caller.random.below(8), platform: null };
  return { ask: `POST ${below("0.5")}/tagmatching`, body: { tagIds, metadata } };
}

function assetSearch(caller: RandomCaller): Probe {
  const { random } = caller;
  const filter = random.pick<object>([
    {},
    { assetSubtrees: [anyId(caller, "assets"), anyId(caller, "assets")] },
    { createdTime: { min: 1 } },
    { name: someName(caller, "assets") },
  ]);
  const search = random.pick<object>([
    {},
    { query: random.pick(words) },
    { name: someName(caller, "assets") },
  ]);
  const part = { limit: random.pick([1, 5, 1_000]), offset: random.below(4) };
  return { ask: `POST ${below("0.5")}/assets/search`, body: { filter, search, ...part } };
}

function restList(caller: RandomCaller): Probe {
  const kind = caller.random.pick(kinds);
  const name = encodeURIComponent(someName(caller, kind));
  const condition = caller.random.pick([
    `name=${name}`,
    `externalId=x%20${name}`,
    `labels=${caller.random.pick(words)}`,
    `q=${name}`,
    `query=${name}`,
    `assetId=${anyId(caller, "assets")}`,
    `assetIds=[${anyId(caller, "assets")},${anyId(caller, "assets")}]`,
    `path=[${anyId(caller, "assets")}]`,
    "depth=1",
    "includeMetadata=true",
    "cursor=nonsense",
  ]);
  const search = caller.random.chance(0.5) ? "/search" : "";
  return {
    ask: `GET ${below(caller.random.pick(["0.4", "0.5", "0.6"]))}/${kind}${search}?limit=7&${condition}`,
  };
}

function odata(caller: RandomCaller): Probe {
  const { random } = caller;
  const kind = random.pick(["assets", "timeseries", "events", "files"] as const);
  const property = kind === "events" ? "Description" : "Name";
  const name = someName(caller, kind).replaceAll("'", "''");
  const other = random.pick(words);
  const filter = random.pick([
    `contains(${property},'${name}')`,
    `${property} eq '${name}'`,
    `ExternalId eq 'x ${name}'`,
    `${property} in ('${name}','${someName(caller, kind)}')`,
    `startswith(${property},'${name}') or startswith(${property},'${other}')`,
    `endswith(${property},'${name}') and CreatedTime ge 2000-01-01T00:00:00Z`,
    `Id eq '${anyId(caller, kind)}'`,
    ...(kind === "timeseries" ? [`AssetId eq '${anyId(caller, "assets")}'`] : []),
  ]);
  const expansions = {
    assets: ["Timeseries", "Children", "Root,Parent", "Files($select=Id)", "Subtree"],
    timeseries: ["Asset", "Asset($expand=Parent)"],
    files: ["Assets"],
    events: [],
  }[kind];
  const part = random.pick(["", "&$top=3", "&$top=2&$count=true", "&$count=true", "&$select=Id,CreatedTime"]);
  const expand = random.pick(["", "", ...expansions.map((one) => `&$expand=${one}`)]);
  const isCount = random.chance(0.2);
  const path = `${root}/${sets[kind]}${isCount ? "/$count" : ""}?$filter=${encoded(filter)}`;
  return { ask: `GET ${path}${isCount ? "" : encodeURI(part + expand)}` };
}

function points(caller: RandomCaller): Probe {
  const { random } = caller;
  const items = Array.from({ length: random.below(3) + 1 }, () =>
    random.chance(0.5) ? { id: anyId(caller, "timeseries") } : { name: someName(caller, "timeseries") },
  );
  const aggregates = { aggregates: ["avg", "count"], granularity: "1h" };
  const path = random.pick(["dataquery", "dataframe"]);
  const isAggregate = path === "dataframe" || random.chance(0.5);
  const body = { items, start: 0, end: 9_000, limit: 2, ...(isAggregate && aggregates) };
  return { ask: `POST ${below("0.5")}/timeseries/${path}`, body };
}

/** Series by names that may be hidden, compared with each other. */
function similarity(caller: RandomCaller): Probe {
  const tags = () => [someName(caller, "timeseries"), someName(caller, "timeseries")];
  const interval = { start: 0, end: 9_000 };
  const intervals = { inputInterval: interval, queryInterval: interval };
  const body = { inputTags: tags(), queryTags: tags(), modes: ["pattern"], ...intervals };
  return { ask: `POST ${below("0.4")}/similaritysearch`, body };
}

/** Lists that callers without administration may read in part, and words that records refer to. */
function others({ random }: RandomCaller): Probe {
  const at = below("0.6");
  const paths = [
    ...["users", "groups", "groups?all=true", "apikeys", "securitycategories", "eventtransformers"],
    ...["semantictypes", "assets/types", "raw", "relationships", "trends", "connectors", "suggestions", ""],
    "retentionrules",
  ];
  return { ask: `GET ${at}/${random.pick(paths)}` };
}

const probes = [
  tagMatching,
  assetSearch,
  restList,
  restList,
  odata,
  odata,
  odata,
  points,
  similarity,
  others,
];

/** One request by chance. */
export const probe = (caller: RandomCaller): Probe => caller.random.pick(probes)(caller);
