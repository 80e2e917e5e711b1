// Reads over OData: sets, single entities, searches, counts and what hangs on an entity.
import type { Reply } from "./client.ts";
import { aclOf, holds, type Kind, may, type Thing } from "./plant.ts";
import type { Asker, Question } from "./question.ts";
import { anyId, words } from "./rest-reads.ts";

const at = "GET /odata/v1/projects/demo";
const sets = { assets: "Assets", timeseries: "Timeseries" } as const;
type Served = keyof typeof sets;

interface Entity {
  readonly Id: string;
  readonly Asset?: Entity | null;
}

const bodyOf = (reply: Reply) => reply.json as unknown as { readonly value: readonly Entity[] } & Entity;
const inNumbers = (ids: readonly string[]) => ids.map(Number).sort((a, b) => a - b);
const valueIds = (reply: Reply) => inNumbers(bodyOf(reply).value.map(({ Id }) => Id));
const idsOf = (things: readonly Thing[]) => inNumbers(things.map(({ id }) => `${id}`));

const visible = ({ plant, rights }: Asker, kind: Kind) =>
  plant.of(kind).filter((one) => may(plant, rights, "READ", one));

const given = (kind: Served) => ({ needs: [aclOf[kind], "READ"], refusals: "by status" }) as const;

function set(asker: Asker, kind: Served): Question {
  const word = asker.random.pick(words);
  const isSearch = asker.random.chance(0.3);
  const found = visible(asker, kind).filter(({ name }) => name.startsWith(word));
  const which = isSearch
    ? `${sets[kind]}Search(Search='${word}')?`
    : `${sets[kind]}?$filter=startswith(Name,'${word}')&`;
  return {
    ...given(kind),
    ask: `${at}/${which}$select=Id`,
    seen: valueIds,
    expected: idsOf(found),
  };
}

function count(asker: Asker, kind: Served): Question {
  const word = asker.random.pick(words);
  const found = visible(asker, kind).filter(({ name }) => name.includes(word));
  return {
    ...given(kind),
    ask: `${at}/${sets[kind]}/$count?$filter=contains(Name,'${word}')`,
    seen: (reply) => reply.text,
    expected: `${found.length}`,
  };
}

function entity(asker: Asker, kind: Served): Question {
  const id = anyId(asker, kind);
  const isSeen = visible(asker, kind).some((one) => one.id === id);
  return {
    ...given(kind),
    ask: `${at}/${sets[kind]}('${id}')?$select=Id`,
    seen: (reply) => bodyOf(reply).Id,
    expected: isSeen ? `${id}` : { status: 404 },
  };
}

/** The asset of each series, where that may be seen. */
function expanded(asker: Asker): Question {
  const { rights, random } = asker;
  const word = random.pick(words);
  const isExpanded = holds(rights, "assetsAcl", "READ");
  const assets = new Set(visible(asker, "assets").map(({ id }) => id));
  const found = visible(asker, "timeseries").filter(({ name }) => name.startsWith(word));
  const pairs = found.map(({ id, assetIds: [assetId = 0] }) => [id, assets.has(assetId) ? assetId : 0]);
  const expand = isExpanded ? "&$expand=Asset($select=Id)" : "";
  return {
    ...given("timeseries"),
    ask: `${at}/Timeseries?$filter=startswith(Name,'${word}')&$select=Id${expand}`,
    seen: (reply) =>
      bodyOf(reply)
        .value.map((one) => [Number(one.Id), Number(one.Asset?.Id ?? 0)])
        .sort(([a], [b]) => a! - b!),
    expected: pairs.map(([id, assetId]) => [id, isExpanded ? assetId : 0]).sort(([a], [b]) => a! - b!),
  };
}

function subtree(asker: Asker): Question {
  const { plant, random } = asker;
  const id = anyId(asker, "assets");
  const assets = visible(asker, "assets");
  const isChildren = random.chance(0.5);
  const found = assets.filter((one) => (isChildren ? one.parentId === id : plant.isUnder(one, [id])));
  return {
    ...given("assets"),
    ask: `${at}/Assets('${id}')/${isChildren ? "Children" : "Subtree"}?$select=Id`,
    seen: valueIds,
    expected: assets.some((one) => one.id === id) ? idsOf(found) : { status: 404 },
  };
}

const perKind = [set, set, count, entity];

/** One question, by chance. */
export function odataRead(asker: Asker): Question {
  const { random } = asker;
  if (random.chance(0.3)) return random.pick([expanded, subtree])(asker);
  return random.pick(perKind)(asker, random.pick(["assets", "timeseries"] as const));
}
