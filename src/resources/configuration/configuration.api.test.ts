// Configurations over the API: documents are compared and applied together, with the rights of the caller.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer } from "../../../test/support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const ask = (methodAndPath: string, body?: unknown, headers = {}) =>
  server.ask.v06(methodAndPath, body, headers);

/** The headers of a new account with these rights to everything. */
const callerWith = (name: string, rights: Readonly<Record<string, readonly string[]>>) =>
  callerOf(
    name,
    Object.entries(rights).map(([acl, actions]) => ({ [acl]: { actions, scope: { all: {} } } })),
  );

/** The headers of a new account with these capabilities. */
async function callerOf(name: string, capabilities: readonly object[]) {
  const [group] = (await ask("POST /groups", { items: [{ name, capabilities }] })).items;
  const [user] = (await ask("POST /users", { items: [{ uniqueName: name, groups: [group!["id"]] }] })).items;
  const [key] = (await ask("POST /apikeys", { items: [{ userId: user!["id"] }] })).items;
  return { "api-key": key!["value"] as string };
}

interface Outcome {
  readonly applied: boolean;
  readonly unchanged: number;
  readonly digest: string;
  readonly differences: readonly {
    readonly kind: string;
    readonly name: string;
    readonly change: string;
    readonly fields: readonly { readonly field: string; readonly old?: unknown; readonly new?: unknown }[];
  }[];
}

async function apply(body: object, headers = {}): Promise<Outcome> {
  const { status, json, text } = await ask("POST /configuration", body, headers);
  assert.equal(status, 200, text);
  return (json as { data: Outcome }).data;
}
const list = async (kind: string) => (await ask(`GET /configuration/${kind}?limit=1000`)).items;
const summary = ({ differences, unchanged }: Outcome) => ({
  unchanged,
  differences: differences.map(({ kind, name, change, fields }) =>
    change === "changed" ? [change, kind, name, fields] : [change, kind, name],
  ),
});

const tree = {
  externalId: "tree",
  name: "Tree",
  destination: { type: "raw", database: "d", table: "t" },
  action: "upsert",
  query: "SELECT 'a' AS key",
};
const operators = {
  name: "operators",
  capabilities: [{ timeSeriesAcl: { actions: ["READ"], scope: { all: {} } } }],
};
const flow = { name: "flow", unit: "m3/h", metadata: { loop: "1" }, asset: "pump" };

test("documents are created, then change nothing, then change single members", async () => {
  await ask("POST /assets", { items: [{ name: "pump", externalId: "pump" }] });
  const wanted = {
    series: [flow, { name: "text", isString: true }],
    groups: [operators],
    transformations: [tree],
  };
  const dry = await apply({ ...wanted, dryRun: true });
  assert.equal(dry.applied, false);
  assert.deepEqual([await list("series"), await list("groups"), await list("transformations")], [[], [], []]);
  const made = await apply({ ...wanted, digest: dry.digest });
  assert.equal(made.applied, true);
  assert.deepEqual(made.differences, dry.differences);
  assert.deepEqual(summary(made), {
    unchanged: 0,
    differences: [
      ["created", "series", "flow"],
      ["created", "series", "text"],
      ["created", "groups", "operators"],
      ["created", "transformations", "tree"],
    ],
  });
  assert.deepEqual(await list("series"), wanted.series);
  assert.deepEqual(await list("groups"), wanted.groups);
  assert.deepEqual(await list("transformations"), wanted.transformations);
  const { items: before } = await ask("GET /transformations");
  assert.deepEqual(summary(await apply(wanted)), { unchanged: 4, differences: [] });
  assert.deepEqual((await ask("GET /transformations")).items, before, "nothing is saved again");
  const changed = {
    series: [{ ...flow, unit: "l/s", metadata: {} }],
    transformations: [{ ...tree, onError: "skip", schedule: { everyMinutes: 5 } }],
  };
  assert.deepEqual(summary(await apply(changed)).differences, [
    [
      ...["changed", "series", "flow"],
      [
        { field: "unit", old: "m3/h", new: "l/s" },
        { field: "metadata", old: { loop: "1" } },
      ],
    ],
    [
      ...["changed", "transformations", "tree"],
      [
        { field: "onError", new: "skip" },
        { field: "schedule", new: { everyMinutes: 5 } },
      ],
    ],
  ]);
  assert.deepEqual(summary(await apply(changed)), { unchanged: 2, differences: [] });
  const [{ nextTime }] = (await ask("GET /transformations")).items as [{ nextTime: number }];
  await apply({ transformations: [{ ...changed.transformations[0], name: "Other" }] });
  const [renamed] = (await ask("GET /transformations")).items;
  assert.equal(renamed!["nextTime"], nextTime, "a schedule that stays keeps its time");
});

const goodSeries = [
  { name: "new", unit: "bar" },
  { ...flow, unit: "other" },
];
const goodGroups = [
  { ...operators, capabilities: [] },
  { name: "new", capabilities: [] },
];
const refusals: readonly (readonly [body: object, status: number, message: RegExp, name: unknown])[] = [
  [
    {
      transformations: [
        tree,
        { ...tree, externalId: "x", action: "delete", destination: { type: "series" } },
      ],
    },
    400,
    /^transformations "x": .* - action - expected create, update, upsert for series/,
    "x",
  ],
  [
    { transformations: [{ ...tree, externalId: "x", schedule: { after: "x" } }] },
    400,
    /x would run after itself/,
    "x",
  ],
  [
    { transformations: [{ ...tree, schedule: { cron: "61 * * * *", timeZone: "UTC" } }] },
    400,
    /schedule.cron/,
    "tree",
  ],
  [{ transformations: [tree, tree] }, 400, /^transformations "tree" is there twice$/, "tree"],
  [
    {
      groups: [
        ...goodGroups,
        { name: "bad", capabilities: [{ assetsAcl: { actions: ["READ"], scope: { some: {} } } }] },
      ],
    },
    400,
    /^groups "bad": .*scope/,
    "bad",
  ],
  [
    { series: [...goodSeries, { name: "far", asset: "moon" }] },
    400,
    /^series "far": .*the external id of an existing asset but got "moon"/,
    "far",
  ],
  [
    { series: [...goodSeries, { name: "text" }] },
    400,
    /^series "text": .* - isString - expected true as at its creation/,
    "text",
  ],
  [
    { series: [...goodSeries, { name: "twice", externalId: "e" }, { name: "thrice", externalId: "e" }] },
    409,
    /^series: .*e/,
    undefined,
  ],
  [{ digest: "0".repeat(64) }, 409, /Records were changed after/, undefined],
];

test("a group with the name of the administrators is refused, and no second one is made", async () => {
  const capabilities = [{ assetsAcl: { actions: ["READ"], scope: { all: {} } } }];
  const { status, json } = await ask("POST /configuration", {
    groups: [{ name: "administrators", capabilities }],
  });
  const { message } = (json as { error: { message: string } }).error;
  assert.equal(status, 400);
  assert.match(message, /^groups "administrators": .*none for the administrators, who have all rights/);
  const named = (await ask("GET /groups?all=true")).items.filter(({ name }) => name === "administrators");
  assert.equal(named.length, 1);
});

test("all documents are applied or none, whichever is refused", async () => {
  const read = async () =>
    JSON.stringify([await list("series"), await list("groups"), await list("transformations")]);
  const before = await read();
  for (const [body, status, message, name] of refusals) {
    const sent = { series: goodSeries, groups: goodGroups, ...body };
    const dry = await ask("POST /configuration", { ...sent, dryRun: true });
    const refused = await ask("POST /configuration", sent);
    assert.deepEqual([refused.status, dry.status], [status, status], `${refused.text} ${dry.text}`);
    assert.deepEqual(refused.json, dry.json);
    assert.match(refused.error!.message, message);
    const { document } = refused.error as unknown as { document?: { name?: string } };
    assert.equal(document?.name, name, refused.text);
    assert.equal(await read(), before, refused.text);
  }
});

test("unknown members are refused at any depth", async () => {
  const cases = [
    [{ serie: [] }, "serie"],
    [{ series: [{ ...flow, units: "bar" }] }, "series[0].units"],
    [
      { transformations: [{ ...tree, destination: { type: "events", databse: "x" } }] },
      "transformations[0].destination.databse",
    ],
    [{ transformations: [{ ...tree, schedule: { everyMinutes: 5, at: 3 } }] }, "transformations[0].schedule"],
    [{ groups: [{ ...operators, members: [] }] }, "groups[0].members"],
  ] as const;
  for (const [body, field] of cases) {
    const { status, error } = await ask("POST /configuration", body);
    assert.equal(status, 400);
    assert.ok(error!.message.includes(field), error!.message);
  }
});

test("records without a document are deleted only if their kind is named", async () => {
  await apply({
    transformations: [tree, { ...tree, externalId: "gone" }],
    groups: [operators, { name: "gone", capabilities: [] }],
  });
  const body = { transformations: [tree], groups: [operators] };
  assert.deepEqual((await apply(body)).differences, []);
  const pruned = { ...body, prune: ["transformations", "groups"] };
  const dry = await apply({ ...pruned, dryRun: true });
  const gone = dry.differences
    .filter(({ change }) => change === "deleted")
    .map(({ kind, name }) => [kind, name]);
  assert.ok(gone.some(([kind, name]) => kind === "groups" && name === "gone"));
  assert.ok(gone.some(([kind, name]) => kind === "transformations" && name === "gone"));
  assert.equal((await list("transformations")).length, 2);
  await apply({ ...pruned, digest: dry.digest });
  assert.deepEqual(await list("transformations"), [tree]);
  // A chain that turns around, with one that comes and one that goes.
  const [a, b, c] = ["a", "b", "c"].map((externalId) => ({ ...tree, externalId }));
  const after = (externalId: string) => ({ schedule: { after: externalId } });
  await apply({ transformations: [{ ...a, ...after("b") }, b] });
  const turned = [{ ...a, ...after("c") }, { ...c, ...after("tree") }, tree];
  await apply({ transformations: turned, prune: ["transformations"] });
  const names = (await list("transformations")).map(({ externalId }) => externalId);
  assert.deepEqual(names.toSorted(), ["a", "c", "tree"]);
  await apply({ transformations: [tree], prune: ["transformations"] });
  assert.deepEqual(await list("groups"), [operators]);
  const unknown = await ask("POST /configuration", { prune: ["series"] });
  assert.equal(unknown.status, 400, "series have datapoints, which no file has");
});

test("the caller needs the rights of each kind, and grants no more than its own", async () => {
  const writer = await callerWith("series writer", { timeSeriesAcl: ["READ", "WRITE"] });
  const series = [{ name: "of the writer" }];
  const refused = await ask("POST /configuration", { series, groups: [operators] }, writer);
  assert.deepEqual(
    [refused.status, refused.error?.message],
    [403, "This needs the capability groupsAcl with the action LIST"],
  );
  assert.equal(
    (await list("series")).some(({ name }) => name === "of the writer"),
    false,
  );
  assert.equal((await apply({ series }, writer)).differences.length, 1);
  const granting = await callerWith("granting", {
    groupsAcl: ["LIST", "READ", "CREATE"],
    timeSeriesAcl: ["READ", "WRITE"],
  });
  const partly = await ask("POST /configuration", { groups: [operators] }, granting);
  assert.equal(partly.status, 403, "without UPDATE of groups");
  const scope = (kind: string) => ({ [kind]: {} });
  const ofGroups = (action: string, kind: string) => ({
    groupsAcl: { actions: [action], scope: scope(kind) },
  });
  const own = await callerOf("lists own groups", [
    ofGroups("LIST", "currentuserscope"),
    ...["CREATE", "UPDATE"].map((action) => ofGroups(action, "all")),
  ]);
  const unlisted = await ask("POST /configuration", { groups: [{ name: "again", capabilities: [] }] }, own);
  assert.equal(unlisted.status, 403, "a group that it cannot list would be created again by each run");
  for (const kind of ["series", "groups", "transformations"]) {
    const nobody = await callerWith(`nobody ${kind}`, { rawAcl: ["READ"] });
    assert.equal((await ask(`GET /configuration/${kind}`, undefined, nobody)).status, 403);
  }
});
