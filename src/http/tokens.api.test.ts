// Tokens of an identity provider over the API: valid ones are accepted, all others refused.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, beforeEach, describe, it } from "node:test";
import { SignJWT } from "jose";
import { client, signed, signingKey, startProvider, type TestProvider } from "../../test/support/provider.ts";
import { startTestServer, type TestServer, withFront } from "../../test/support/server.ts";
import { realSystem } from "../lib/system.ts";
import { limits } from "../limits.ts";
import { ensureProject, setAuthentication } from "../resources/projects/projects.ts";
import { routes } from "../resources.ts";
import { pathOf } from "../rest/route.ts";

let clockMs = 0;
const system = {
  ...realSystem,
  nowMs: () => Date.now() + clockMs,
  monotonicMs: () => performance.now() + clockMs,
};
const notValid =
  "HTTP 401 Unauthorized: the token is not valid for this server; an API key belongs in the header api-key";
const seconds = (ms: number) => Math.floor(ms / 1000);

let provider: TestProvider;
let server: TestServer;

before(async () => {
  provider = await startProvider();
  server = await startTestServer({ system });
  await setProvider({});
});
after(async () => {
  await server.close();
  await provider.close();
});
beforeEach(() => provider.become("well"));

/** Writes the record, and lets the time pass until it counts. */
async function setProvider(own: object, rest: object = {}): Promise<void> {
  const openIdConfiguration = { issuer: provider.issuer, ...own };
  const oAuth2Configuration = { clientId: client.id, clientSecret: client.secret };
  const authentication = { ...rest, oAuth2Configuration, openIdConfiguration };
  const { status, text } = await server.ask("PUT /", { items: [{ name: "demo", authentication }] });
  assert.equal(status, 200, text);
  clockMs += limits.keyCacheMsMax;
}

const bearer = (token: string, header = `Bearer ${token}`) => ({
  "api-key": undefined,
  authorization: header,
});
const read = (token: string) => server.ask("GET /", undefined, bearer(token));
const statusOf = async (token: string) => (await read(token)).status;
const tokenStatus = async (token: string) => {
  const requestLine = `GET /login/token?token=${encodeURIComponent(token)}`;
  const { status, json } = await server.ask.root(requestLine, undefined, { "api-key": undefined });
  assert.equal(status, 200);
  const { data } = json as { data: { token: string; valid: boolean; expired: boolean } };
  assert.equal(data.token, token);
  return data;
};

/** Every route of every version, addressed with whatever ids. */
const operations = routes.flatMap((route) =>
  route.versions.map((version) => ({
    method: route.method,
    path: pathOf(route, version)
      .replace("{project}", "demo")
      .replaceAll(/\{\w+\}/g, "1"),
    capability: route.capability,
  })),
);

describe("a good token", () => {
  it("lets in to its project, in each spelling of the header", async () => {
    const token = await provider.token();
    for (const header of [`Bearer ${token}`, `Bearer: ${token}`, `bearer ${token}`, `BEARER:  ${token} `])
      assert.equal((await server.ask("GET /", undefined, bearer(token, header))).status, 200, header);
  });

  it("tells its user and project in the status, and is valid", async () => {
    const token = await provider.token();
    const { json } = await server.ask.root("GET /login/status", undefined, bearer(token));
    const { data } = json as { data: Record<string, unknown> };
    assert.deepEqual(
      { ...data, projectId: Number(data["projectId"]) > 0 },
      { user: "engineer@plant.example", loggedIn: true, project: "demo", projectId: true },
    );
    assert.deepEqual(await tokenStatus(token), { token, valid: true, expired: false });
  });

  it("gives way to an API key beside it", async () => {
    const token = await provider.token();
    const both = await server.ask("GET /", undefined, { ...bearer(token), "api-key": "wrong" });
    assert.equal(both.status, 401);
    const good = await server.ask("GET /", undefined, { ...bearer("nonsense"), "api-key": server.key });
    assert.equal(good.status, 200);
  });

  it("is 403 for another project, and for one that does not exist", async () => {
    await ensureProject(server.app.services, "other-plant");
    const token = await provider.token();
    for (const project of ["other-plant", "nowhere"]) {
      const path = `GET /api/0.5/projects/${project}/assets`;
      assert.equal((await server.ask.root(path, undefined, bearer(token))).status, 403, project);
    }
  });

  it("may be for one of several audiences, and come a little early", async () => {
    assert.equal(await statusOf(await provider.token({ aud: ["other", client.id] })), 200);
    const soon = seconds(system.nowMs()) + 20;
    assert.equal(await statusOf(await provider.token({ iat: soon, nbf: soon })), 200);
  });
});

describe("a bad token", () => {
  const now = () => seconds(system.nowMs());
  const cases: Record<string, () => Promise<string>> = {
    "is no token at all": async () => "nonsense",
    "has a wrong issuer": () => provider.token({ iss: "https://elsewhere.example" }),
    "has no issuer": () => provider.token({ iss: undefined }),
    "has a wrong audience": () => provider.token({ aud: "another-client" }),
    "has no audience": () => provider.token({ aud: undefined }),
    "has no subject": () => provider.token({ sub: undefined }),
    "never expires": () => provider.token({ exp: undefined }),
    "expires at no time": () => provider.token({ exp: "tomorrow" }),
    "is good from tomorrow on": () => provider.token({ nbf: now() + 86_400 }),
    "was issued tomorrow": () => provider.token({ iat: now() + 86_400, exp: now() + 90_000 }),
    "is signed by another key under the same id": async () =>
      signed({ iss: provider.issuer }, { ...(await signingKey("RS256")), kid: provider.key.kid }),
    "names an unknown key": () => provider.token({}, { kid: "unknown" }),
    "has a damaged signature": async () => {
      const token = await provider.token();
      return `${token.slice(0, -6)}${token.slice(-6) === "AAAAAA" ? "BBBBBB" : "AAAAAA"}`;
    },
    "has other claims than were signed": async () => {
      const [head, , signature] = (await provider.token()).split(".");
      const claims = { iss: provider.issuer, aud: client.id, sub: "root", exp: now() + 300 };
      return `${head}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.${signature}`;
    },
    "is not signed": async () => {
      const [, claims] = (await provider.token()).split(".");
      return `${Buffer.from('{"alg":"none"}').toString("base64url")}.${claims}.`;
    },
    "is signed with the public key as a shared secret": async () => {
      const { n } = provider.key.publicJwk;
      return new SignJWT({ iss: provider.issuer, aud: client.id, sub: "root" })
        .setProtectedHeader({ alg: "HS256", kid: provider.key.kid })
        .setExpirationTime("5m")
        .sign(Buffer.from(n!, "base64url"));
    },
    "asks for an extension that nobody knows": async () =>
      new SignJWT({ iss: provider.issuer, aud: client.id, sub: "root" })
        .setProtectedHeader({ alg: "RS256", kid: provider.key.kid, crit: ["urn:x"], "urn:x": true })
        .setExpirationTime("5m")
        .sign(provider.key.privateKey, { crit: { "urn:x": true } }),
    "is oversized": () => provider.token({ padding: "x".repeat(limits.tokenLengthMax) }),
    "says it is one of ours": () => provider.token({ iss: "urn:millrace", aud: "millrace", sid: "x" }),
  };
  it("is 401 at every route, whatever is wrong with it; a good one without rights is 403", async () => {
    const makers = Object.values(cases);
    const powerless = bearer(await provider.token({ groups: ["unheard of"] }));
    for (const [at, { method, path, capability }] of operations.entries()) {
      const token = await makers[at % makers.length]!();
      const refused = await server.ask.root(`${method} ${path}`, undefined, bearer(token));
      assert.equal(refused.status, 401, `${method} ${path}`);
      assert.deepEqual(refused.json, { error: { code: 401, message: notValid } });
      if (capability === "member") continue;
      const { status } = await server.ask.root(`${method} ${path}`, undefined, powerless);
      assert.equal(status, 403, `${method} ${path}`);
    }
  });

  for (const [what, make] of Object.entries(cases))
    it(`${what}: 401, and valid nowhere`, async () => {
      const token = await make();
      const { status, error } = await read(token);
      assert.equal(status, 401);
      assert.equal(error?.message, notValid);
      if (token.length > limits.headBytesMax / 2) return;
      assert.deepEqual(await tokenStatus(token), { token, valid: false, expired: false });
    });

  it("is expired: 401, and told apart from a forged one", async () => {
    const token = await provider.token({ exp: now() - seconds(limits.clockToleranceMs) - 5 });
    const { status, error } = await read(token);
    assert.equal(status, 401);
    assert.equal(error?.message, "HTTP 401 Unauthorized: the token has expired");
    assert.deepEqual(await tokenStatus(token), { token, valid: false, expired: true });
    const { json } = await server.ask.root("GET /login/status", undefined, bearer(token));
    assert.deepEqual(json, { data: { user: "", loggedIn: false, project: "", projectId: -1 } });
  });
});

it("fetches nothing that a token names", async () => {
  const requests: string[] = [];
  const trap = createServer((request, response) => {
    requests.push(request.url ?? "");
    response.end(JSON.stringify({ keys: [key.publicJwk] }));
  });
  const key = await signingKey("RS256");
  await new Promise<void>((resolve) => trap.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${(trap.address() as AddressInfo).port}`;
  const header = { jku: `${address}/keys`, x5u: `${address}/chain`, jwk: key.publicJwk };
  assert.equal(await statusOf(await signed({ iss: provider.issuer }, key, header)), 401);
  assert.equal(await statusOf(await signed({ iss: address }, key, header)), 401);
  trap.close();
  assert.deepEqual(requests, []);
});

it("takes only the algorithms that the project allows", async () => {
  await setProvider({ algorithms: ["ES256"] });
  assert.equal(await statusOf(await provider.token()), 401);
  await setProvider({ algorithms: ["RS256"] });
  assert.equal(await statusOf(await provider.token()), 200);
});

it("lets in the e-mail domains that the project names, and no address that is not verified", async () => {
  await setProvider({}, { validDomains: ["Plant.example"] });
  const excluded = "Your e-mail address is in no domain that may log in to this project";
  const cases: [claims: Record<string, unknown>, status: number][] = [
    [{}, 200],
    [{ email: "a@PLANT.EXAMPLE" }, 200],
    [{ email: "a@plant.example", email_verified: true }, 200],
    [{ email: "a@plant.example", email_verified: false }, 403],
    [{ email: "a@plant.example.evil.example" }, 403],
    [{ email: "plant.example@evil.example" }, 403],
    [{ email: undefined, preferred_username: "a@plant.example" }, 403],
    [{ email: undefined, upn: "a@plant.example" }, 200],
  ];
  for (const [claims, expected] of cases) {
    const token = await provider.token(claims);
    const { status, error } = await read(token);
    assert.equal(status, expected, JSON.stringify(claims));
    if (expected === 403) assert.equal(error?.message, excluded);
    assert.equal((await tokenStatus(token)).valid, expected === 200);
  }
  await setProvider({});
});

describe("the groups of a token", () => {
  const canRead = { capabilities: [{ assetsAcl: { actions: ["READ"], scope: { all: {} } } }] };
  const makeGroup = async (group: object): Promise<number> => {
    const { status, items, text } = await server.ask("POST /groups", { items: [{ ...canRead, ...group }] });
    assert.equal(status, 200, text);
    return items[0]!["id"] as number;
  };
  const deleteGroup = (id: number) => server.ask("POST /groups/delete", { items: [id] });
  const readAssets = async (claims: Record<string, unknown>) =>
    (await server.ask("GET /assets", undefined, bearer(await provider.token(claims)))).status;

  it("grant what the groups with their `sourceId` grant, as long as there are such", async () => {
    assert.equal(await readAssets({}), 403);
    const id = await makeGroup({ name: "engineers here", sourceId: "engineers" });
    assert.equal(await readAssets({}), 200);
    assert.equal(await readAssets({ groups: "engineers" }), 200);
    assert.equal(await readAssets({ groups: ["others"] }), 403);
    assert.equal(await readAssets({ groups: ["Engineers", 7, null, { engineers: true }] }), 403);
    assert.equal(await readAssets({ groups: undefined }), 403);
    await deleteGroup(id);
    assert.equal(await readAssets({}), 403);
  });

  it("are of this provider, if a group says where it is from", async () => {
    const mine = await makeGroup({ name: "a", sourceId: "engineers", source: provider.issuer });
    assert.equal(await readAssets({}), 200);
    await deleteGroup(mine);
    const foreign = await makeGroup({
      name: "b",
      sourceId: "engineers",
      source: "https://elsewhere.example",
    });
    assert.equal(await readAssets({}), 403);
    await deleteGroup(foreign);
  });

  it("may be in another claim, also in a member of one", async () => {
    const id = await makeGroup({ name: "staff", sourceId: "staff" });
    await setProvider({ groupsClaim: "realm_access.roles" });
    assert.equal(await readAssets({ groups: ["staff"] }), 403);
    assert.equal(await readAssets({ realm_access: { roles: ["staff"] } }), 200);
    assert.equal(await readAssets({ "realm_access.roles": ["staff"] }), 200);
    await setProvider({});
    await deleteGroup(id);
  });

  it("are the default group when none of them is here", async () => {
    const id = await makeGroup({ name: "everyone else" });
    const put = await server.ask.v06("PUT /defaultgroup", { items: [id] });
    assert.equal(put.status, 200, put.text);
    assert.equal(await readAssets({ groups: ["unheard of"] }), 200);
    const other = await makeGroup({ name: "no rights", sourceId: "engineers", capabilities: [] });
    assert.equal(await readAssets({}), 403);
    for (const one of [id, other]) await deleteGroup(one);
  });
});

describe("the provider's keys", () => {
  it("are requested again when it has new ones; then the old ones are invalid", async () => {
    const old = await provider.token();
    assert.equal(await statusOf(old), 200);
    await provider.rotate();
    clockMs += limits.providerRefetchMsMin;
    assert.equal(await statusOf(await provider.token()), 200);
    assert.equal(await statusOf(old), 401);
  });

  it("are requested once for all tokens with unknown keys, even without a response", async () => {
    clockMs += limits.providerRefetchMsMin;
    const before = provider.keyRequests;
    const unknown = async () => statusOf(await provider.token({}, { kid: crypto.randomUUID() }));
    const statuses = await Promise.all(Array.from({ length: 20 }, unknown));
    assert.deepEqual(new Set(statuses), new Set([401]));
    assert.equal(provider.keyRequests, before + 1);
    provider.become("failing");
    clockMs += limits.providerRefetchMsMin;
    await Promise.all(Array.from({ length: 20 }, unknown));
    assert.equal(await unknown(), 401);
    provider.become("well");
    assert.equal(await unknown(), 401);
    assert.equal(provider.keyRequests, before + 1);
  });

  it("serve on while it is away, but not for ever; then it is 503, not the caller's fault", async () => {
    const lasting = await provider.token({ exp: seconds(system.nowMs()) + 3 * 86_400 });
    assert.equal(await statusOf(lasting), 200);
    for (const state of ["away", "failing", "moved"] as const) {
      provider.become(state);
      clockMs += limits.providerFreshMsMax;
      assert.equal(await statusOf(lasting), 200, state);
      clockMs += limits.providerRefetchMsMin;
      assert.equal(await statusOf(lasting), 200, state);
    }
    clockMs += limits.providerStaleMsMax;
    const { status, headers, error } = await read(lasting);
    assert.equal(status, 503);
    assert.equal(headers.get("retry-after"), String(limits.providerRefetchMsMin / 1000));
    assert.equal(error?.message, "The project's identity provider does not respond; try again in 10 s");
    assert.equal((await read(await provider.token({ iss: "https://elsewhere.example" }))).status, 401);
    provider.become("well");
    clockMs += limits.providerRefetchMsMin;
    assert.equal(await statusOf(lasting), 200);
  });
});

it("tells several projects of one provider apart by audience, and by the path where both fit", async () => {
  const { project } = await ensureProject(server.app.services, "second-plant");
  const second = { issuer: provider.issuer, audiences: ["second", client.id] };
  await setAuthentication(server.app.services, project.id, { openIdConfiguration: second });
  clockMs += limits.keyCacheMsMax;
  const projectFor = async (aud: string) => {
    const token = await provider.token({ aud, exp: seconds(system.nowMs()) + 300 });
    const { json } = await server.ask.root("GET /login/status", undefined, bearer(token));
    return (json as { data: { project: string } }).data.project;
  };
  assert.equal(await projectFor("second"), "second-plant");
  assert.equal(await projectFor(client.id), "demo");
  const both = await provider.token({ exp: seconds(system.nowMs()) + 300 });
  for (const name of ["demo", "second-plant"]) {
    const result = await server.ask.root(`GET /api/0.5/projects/${name}`, undefined, bearer(both));
    assert.equal(result.status, 200, name);
  }
});

it("does not call a provider at a private address, and responds as if it were unavailable", async () => {
  const closed = createServer().listen(0, "127.0.0.1");
  await once(closed, "listening");
  const awayIssuer = `http://127.0.0.1:${(closed.address() as AddressInfo).port}`;
  closed.close();
  const before = provider.requests;
  const responses = [
    { issuer: provider.issuer, outboundNetworks: [] },
    { issuer: awayIssuer, outboundNetworks: ["127.0.0.0/8"] },
  ].map(async ({ issuer, outboundNetworks }) => {
    const other = await startTestServer({ ...withFront, outboundNetworks });
    const authentication = {
      oAuth2Configuration: { clientId: client.id },
      openIdConfiguration: { issuer, redirectUrls: ["https://app.plant.example/"] },
    };
    const put = await other.ask("PUT /", { items: [{ name: "demo", authentication }] });
    const startMs = performance.now();
    const token = await signed({ iss: issuer }, provider.key);
    const byToken = await other.ask("GET /", undefined, bearer(token));
    const tookMs = performance.now() - startMs;
    const search = `project=demo&redirectUrl=${encodeURIComponent("https://app.plant.example/")}`;
    const byLogin = await other.ask.root(`GET /login/redirect?${search}`, undefined, {
      "api-key": undefined,
    });
    await other.close();
    assert.ok(tookMs >= limits.providerResponseMsMax - 1, `${issuer} failed after ${tookMs} ms`);
    return [put.status, byToken.status, byToken.text, byLogin.status, byLogin.text];
  });
  const [refused, away] = await Promise.all(responses);
  assert.deepEqual(refused, away);
  assert.deepEqual([refused![0], refused![1], refused![3]], [200, 503, 503]);
  assert.equal(provider.requests, before);
});
