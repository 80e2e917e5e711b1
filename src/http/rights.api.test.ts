// Every route of every version refuses requests without credentials, callers of other projects, and
// callers without its capability, before it does anything else.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer, withFront } from "../../test/support/server.ts";
import { type Acl, type Action, aclRules } from "../access/capabilities.ts";
import { ensureProject } from "../resources/projects/projects.ts";
import { routes } from "../resources.ts";
import { pathOf } from "../rest/route.ts";

const reasons = {
  none: "the request has no credentials; send a bearer token or a key (header api-key, in OData also Basic)",
  key: "the API key is unknown or revoked",
  token: "the token is not valid for this server; an API key belongs in the header api-key",
};

const unauthorized = (reason: string) => ({
  error: { code: 401, message: `HTTP 401 Unauthorized: ${reason}` },
});

let server: TestServer;
let foreignKey: string;

before(async () => {
  server = await startTestServer(withFront);
  const { project } = await ensureProject(server.app.services, "other-plant");
  foreignKey = (await server.app.services.keys.create(project, "stranger")).key;
});
after(() => server.close());

const operations = routes.flatMap((route) =>
  route.versions.map((version) => ({
    method: route.method,
    capability: route.capability,
    isNewest: version === route.versions.at(-1),
    path: (project: string) =>
      pathOf(route, version)
        .replace("{project}", project)
        .replaceAll(/\{\w+\}/g, "1"),
  })),
);

test("without credentials, or with bad ones, each operation returns 401", async () => {
  for (const { method, path } of operations)
    for (const [headers, reason] of [
      [{ "api-key": undefined }, reasons.none],
      [{ "api-key": "wrong" }, reasons.key],
      [{ "api-key": undefined, authorization: `Bearer ${server.key}` }, reasons.token],
      [{ "api-key": "wrong", authorization: `Bearer ${server.key}` }, reasons.key],
    ] as const) {
      const response = await server.ask.root(`${method} ${path(server.project)}`, undefined, headers);
      assert.equal(response.status, 401, `${method} ${path(server.project)}`);
      assert.deepEqual(response.json, unauthorized(reason));
    }
});

test("for a project that is unknown, or another's, each operation returns 403", async () => {
  for (const { method, path } of operations) {
    const unknown = await server.ask.root(`${method} ${path("nowhere")}`);
    assert.equal(unknown.status, 403, `${method} ${path("nowhere")}`);
    const foreign = await server.ask.root(`${method} ${path(server.project)}`, undefined, {
      "api-key": foreignKey,
    });
    assert.equal(foreign.status, 403, `${method} ${path(server.project)}`);
    assert.equal(
      foreign.error?.message,
      "The project demo does not exist, or your credentials are for another one",
    );
  }
});

const capabilities = [
  ...new Map(
    routes.flatMap(({ capability }) => (capability === "member" ? [] : [[`${capability}`, capability]])),
  ).values(),
];

/** The handler of the second one requires a capability for each kind of document in the body. */
const ofMembers = ["GET ", "POST /configuration"];

test("every route needs a capability that there is, but for looking at the project", () => {
  for (const { method, path, capability } of routes)
    if (capability === "member") assert.ok(ofMembers.includes(`${method} ${path}`));
    else {
      const actions: readonly Action[] = aclRules[capability[0]].actions;
      assert.ok(actions.includes(capability[1]), `${method} ${path} needs ${capability}`);
    }
});

/** Everything, scopes left without bounds, as far as `isGranted` lets it. */
const grantsOf = (isGranted: (acl: Acl, action: Action) => boolean) =>
  (Object.keys(aclRules) as Acl[]).flatMap((acl) => {
    const actions = aclRules[acl].actions.filter((action) => isGranted(acl, action));
    return actions.length > 0 ? [{ [acl]: { actions, scope: { all: {} } } }] : [];
  });

let accounts = 0;

async function keyWith(granted: readonly object[]): Promise<string> {
  accounts += 1;
  const made = async (path: string, item: object) => {
    const response = await server.ask.v06(`POST /${path}`, { items: [item] });
    assert.equal(response.status, 201, response.text);
    return response.items[0]!;
  };
  const group = await made("groups", { name: "some", capabilities: granted });
  const user = await made("users", { uniqueName: `account ${accounts}`, groups: [group["id"]] });
  return (await made("apikeys", { userId: user["id"] }))["value"] as string;
}

test("a caller with all rights but the capability of an operation gets 403, which names it", async () => {
  for (const [acl, action] of capabilities) {
    const key = await keyWith(grantsOf((...one) => `${one}` !== `${acl},${action}`));
    const message = `This needs the capability ${acl} with the action ${action}`;
    for (const { method, path, capability } of operations) {
      if (`${capability}` !== `${acl},${action}`) continue;
      const response = await server.ask.root(`${method} ${path(server.project)}`, undefined, {
        "api-key": key,
      });
      assert.equal(response.status, 403, `${method} ${path(server.project)}`);
      assert.deepEqual(response.json, { error: { code: 403, message } });
    }
  }
});

/**
 * Operations that require more: the administration of groups (demo.api.test.ts), rights to the records that
 * are compared (suggestions.api.test.ts), or rights to the series of a rule (retention.api.test.ts).
 */
const requiresMore = ({ method, path }: (typeof operations)[number]) =>
  method !== "GET" && /\/(demo|suggestions\/timeseries|retentionrules\/1)$/.test(path(""));

test("who holds the capability of an operation and nothing else is let in", async () => {
  const nobody = await keyWith([]);
  for (const [acl, action] of capabilities) {
    const key = await keyWith(grantsOf((...one) => `${one}` === `${acl},${action}`));
    for (const operation of operations) {
      const { method, path, capability, isNewest } = operation;
      if (!isNewest || requiresMore(operation)) continue;
      if (capability !== "member" && `${capability}` !== `${acl},${action}`) continue;
      const holder = capability === "member" ? nobody : key;
      const response = await server.ask.root(`${method} ${path(server.project)}`, undefined, {
        "api-key": holder,
      });
      assert.ok(![401, 403].includes(response.status), `${method} ${path(server.project)} ${response.text}`);
    }
  }
});

test("strangers learn nothing of a project: an unknown one looks like any other to them", async () => {
  const wrong = { "api-key": "wrong" };
  const unknown = await server.ask.root("GET /api/0.5/projects/nowhere/assets", undefined, wrong);
  assert.deepEqual(unknown.json, unauthorized(reasons.key));
});

test("the header api-key counts in any capitalisation, and decides beside a token", async () => {
  for (const name of ["api-key", "Api-Key", "API-key", "Api-key"]) {
    const { status } = await server.ask("GET /assets?limit=1", undefined, {
      "api-key": undefined,
      [name]: server.key,
      authorization: "Bearer: nonsense",
    });
    assert.equal(status, 200, name);
  }
});

test("a revoked key is refused, and a new one admitted", async () => {
  const { project } = await ensureProject(server.app.services, server.project);
  const { id, key } = await server.app.services.keys.create(project, "gateway");
  const headers = { "api-key": key };
  assert.equal((await server.ask("GET /assets?limit=1", undefined, headers)).status, 200);
  assert.deepEqual(await server.app.services.keys.revoke(id), [id]);
  assert.equal((await server.ask("GET /assets?limit=1", undefined, headers)).status, 401);
  assert.deepEqual(await server.app.services.keys.revoke(id), []);
});
