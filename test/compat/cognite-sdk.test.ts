// A published client, @cognite/sdk 1.7.7 from npm, unmodified, against the real server.
//
// Every method it exports for login, projects, assets, time series and datapoints, asserted on what it
// returns or how it is refused. Methods for a browser window are tested outside of one.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import sdk from "@cognite/sdk";
import { recordReturns } from "../support/every-method.ts";
import { startTestServer, type TestServer, withFront } from "../support/server.ts";

const { Login, Logout } = sdk;
const calls = recordReturns({
  Assets: sdk.Assets,
  Datapoints: sdk.Datapoints,
  Projects: sdk.Projects,
  TimeSeries: sdk.TimeSeries,
});
const { Assets, Datapoints, Projects, TimeSeries } = calls.recorded;
const refused = (status: number) => (error: unknown) => (error as { status?: number }).status === status;

let server: TestServer;

before(async () => {
  server = await startTestServer(withFront);
  sdk.configure({ baseUrl: server.baseUrl, project: server.project, apiKey: server.key });
});
after(() => server.close());

describe("Login and Logout", () => {
  it("loginWithApiKey learns the project from the key", async () => {
    const status = await Login.loginWithApiKey(server.key);
    assert.equal(status.project, server.project);
    assert.equal(status.loggedIn, true);
    assert.ok(status.user && status.projectId > 0);
  });

  it("verifyStatus and loginWithApiKey tell a key that is not valid", async () => {
    sdk.configure({ apiKey: "not-a-key" });
    assert.deepEqual(await Login.verifyStatus(), { user: "", loggedIn: false, project: "", projectId: -1 });
    await assert.rejects(Login.loginWithApiKey("not-a-key"), /different project than configured/);
    sdk.configure({ apiKey: server.key });
    assert.equal((await Login.verifyStatus())?.project, server.project);
  });

  it("validateJWT tells that no token is valid while the project has no identity provider", async () => {
    // The client removes its bearer token for this call and restores it; without one it would continue and
    // send an undefined header, which Node refuses. From here on it sends the token beside the key: the key
    // decides.
    sdk.setBearerToken("a-token-beside-the-key");
    const unsigned = [{ alg: "none" }, { exp: 1 }, ""].map((part) =>
      Buffer.from(JSON.stringify(part)).toString("base64url"),
    );
    const status = await Login.validateJWT(unsigned.join("."));
    assert.deepEqual(status, { token: unsigned.join("."), valid: false, expired: true });
  });

  it("getLoginUrl points to the login redirect of this server", () => {
    const url = new URL(
      Login.getLoginUrl({ project: server.project, redirectUrl: "http://a/", errorRedirectUrl: "http://b/" }),
    );
    assert.equal(url.origin, server.baseUrl);
    assert.equal(url.pathname, "/login/redirect");
  });

  it("retrieveLoginUrl and retrieveLogoutUrl say that there is no identity provider", async () => {
    const addresses = { redirectUrl: "http://a/", errorRedirectUrl: "http://b/" };
    const says = (message: RegExp) => (error: { status: number; message: string }) =>
      error.status === 400 && message.test(error.message);
    await assert.rejects(
      Login.retrieveLoginUrl(addresses),
      says(/^The project demo has no identity provider/),
    );
    await assert.rejects(Logout.retrieveLogoutUrl(addresses), says(/^There is no identity provider/));
  });

  it("authorize, loginWithRedirect, isPopupWindow and popupHandler ask for a browser", async () => {
    const addresses = { redirectUrl: "http://a/", errorRedirectUrl: "http://b/" };
    await assert.rejects(Login.authorize(addresses), /"authorize" in a browser environment/);
    assert.throws(() => Login.loginWithRedirect(addresses), /"loginWithRedirect" in a browser environment/);
    assert.throws(() => Login.isPopupWindow(), /window is not defined/);
    assert.throws(() => Login.popupHandler(), /window is not defined/);
    Login.stopAutoAuthorize();
  });

  it("logout ends the session", async () => {
    assert.equal((await Logout.logout()).loggedIn, false);
  });
});

describe("Projects", () => {
  it("retrieve and update", async () => {
    const project = await Projects.retrieve(server.project);
    assert.equal(project.urlName, server.project);
    const updated = await Projects.update(server.project, { ...project, name: "Mill 7" });
    assert.equal(updated.name, "Mill 7");
    assert.deepEqual(await Projects.retrieve(server.project), updated);
  });

  it("retrieve refuses a project that is not the key's", async () => {
    await assert.rejects(Projects.retrieve("elsewhere"), refused(403));
  });
});

describe("Assets", () => {
  it("create, retrieve and retrieveMultiple", async () => {
    const [pump, motor] = await Assets.create([
      { name: "motor", parentRefId: "pump", metadata: { maker: "ABB" }, source: "cad", sourceId: "m1" },
      { name: "pump", refId: "pump", description: "feed water" },
    ]).then(([second, first]) => [first!, second!]);
    assert.equal(motor!.parentId, pump!.id);
    assert.deepEqual(motor!.path, [pump!.id, motor!.id]);
    assert.equal(motor!.depth, 1);
    assert.deepEqual(await Assets.retrieve(motor!.id), motor);
    assert.deepEqual(await Assets.retrieveMultiple([pump!.id, motor!.id]), [pump, motor]);
    await assert.rejects(Assets.create([{ name: "again", source: "cad", sourceId: "m1" }]), refused(400));
  });

  it("update, updateMultiple and overwriteMultiple", async () => {
    const [one, two] = await Assets.create([{ name: "u1", description: "old" }, { name: "u2" }]);
    const updated = await Assets.update(one!.id, { description: { set: "new" } });
    assert.equal(updated.description, "new");
    const both = await Assets.updateMultiple([
      { id: one!.id, description: { setNull: true } },
      { id: two!.id, metadata: { set: { a: "b" } } },
    ]);
    assert.equal(both[0]!.description ?? "", "");
    assert.deepEqual(both[1]!.metadata, { a: "b" });
    await Assets.overwriteMultiple([{ id: two!.id, name: "u2 overwritten" }]);
    const after = await Assets.retrieve(two!.id);
    assert.deepEqual([after.name, after.metadata], ["u2 overwritten", {}]);
  });

  it("list with every filter, and pages by cursor", async () => {
    const [root, child] = await Assets.create([
      { name: "list root", refId: "r", source: "here", metadata: { k: "v" }, description: "A Listed thing" },
      { name: "list child", refId: "c", parentRefId: "r" },
      { name: "list grandchild", parentRefId: "c" },
    ]);
    const names = async (params: object) => (await Assets.list(params)).items.map((asset) => asset.name);
    assert.deepEqual(await names({ name: "list root" }), ["list root"]);
    assert.deepEqual(await names({ name: "list rot", fuzziness: 1 }), ["list root"]);
    assert.deepEqual(await names({ path: [root!.id], depth: 1 }), ["list root", "list child"]);
    assert.deepEqual(await names({ metadata: { k: "v" } }), ["list root"]);
    assert.deepEqual(await names({ description: "listed", source: "here" }), ["list root"]);
    const first = await Assets.list({ path: [root!.id], limit: 1 });
    assert.ok(first.nextCursor);
    assert.equal(first.previousCursor ?? null, null);
    const second = await Assets.list({ path: [root!.id], limit: 1, cursor: first.nextCursor });
    assert.deepEqual(
      second.items.map((asset) => asset.id),
      [child!.id],
    );
    const back = await Assets.list({ path: [root!.id], limit: 1, cursor: second.previousCursor! });
    assert.deepEqual(back.items, first.items);
  });

  it("listDescendants, search and delete", async () => {
    const [root, leaf] = await Assets.create([
      { name: "turbine alpha", refId: "r" },
      { name: "blade", parentRefId: "r", description: "of the turbine" },
    ]);
    const subtree = await Assets.listDescendants(root!.id, { depth: 1 });
    assert.deepEqual(
      subtree.items.map((asset) => asset.id),
      [root!.id, leaf!.id],
    );
    const found = await Assets.search({ query: "turbine", boostName: true, assetSubtrees: [root!.id] });
    assert.deepEqual(
      found.items.map((asset) => asset.id),
      [root!.id, leaf!.id],
    );
    await Assets.delete([root!.id]);
    await assert.rejects(Assets.retrieve(leaf!.id), refused(404));
  });
});

describe("TimeSeries", () => {
  it("create, list, retrieve, retrieveMultiple and search", async () => {
    const [asset] = await Assets.create([{ name: "boiler" }]);
    await TimeSeries.create([
      {
        name: "boiler.temp",
        unit: "C",
        assetId: asset!.id,
        metadata: { site: "x" },
        description: "steam drum",
      },
      { name: "boiler.state", isString: true },
    ]);
    await assert.rejects(TimeSeries.create([{ name: "boiler.temp" }]), refused(400));
    const { items } = await TimeSeries.list({ q: "boiler.", includeMetadata: true, limit: 10 });
    assert.deepEqual(
      items.map((one) => one.name),
      ["boiler.state", "boiler.temp"],
    );
    const temp = items[1]!;
    assert.deepEqual([temp.unit, temp.assetId, temp.metadata], ["C", asset!.id, { site: "x" }]);
    assert.deepEqual(
      (await TimeSeries.list({ assetId: asset!.id })).items.map((one) => one.id),
      [temp.id],
    );
    assert.deepEqual(await TimeSeries.retrieve(temp.id, true), temp);
    const both = await TimeSeries.retrieveMultiple([temp.id, items[0]!.id]);
    assert.deepEqual(
      both.map((one) => one.name),
      ["boiler.temp", "boiler.state"],
    );
    const found = await TimeSeries.search({
      query: "boiler",
      unit: "C",
      isString: false,
      assetIds: [asset!.id],
    });
    assert.deepEqual(
      found.items.map((one) => one.id),
      [temp.id],
    );
  });

  it("update, updateMultiple, overwriteMultiple and delete", async () => {
    await TimeSeries.create([{ name: "fan/1 + a%b" }]);
    const { items } = await TimeSeries.list({ q: "fan" });
    const { id } = items[0]!;
    assert.equal((await TimeSeries.update(id, { unit: { set: "rpm" } })).unit, "rpm");
    const [changed] = await TimeSeries.updateMultiple([
      { id, description: { set: "d" }, unit: { setNull: true } },
    ]);
    assert.equal(changed!.description, "d");
    assert.equal(changed!.unit, undefined);
    await TimeSeries.overwriteMultiple([{ id, name: "fan/1 + a%b", unit: "1/min" }]);
    assert.equal((await TimeSeries.retrieve(id)).unit, "1/min");
    await TimeSeries.delete("fan/1 + a%b");
    await assert.rejects(TimeSeries.retrieve(id), refused(404));
  });
});

describe("Datapoints", () => {
  const name = "pump/7 flow";
  const points = Array.from({ length: 48 }, (_, i) => ({ timestamp: i * 1_800_000, value: i / 10 }));
  let id = 0;

  before(async () => {
    await TimeSeries.create([{ name }, { name: "state", isString: true }]);
    id = (await TimeSeries.list({ q: name })).items[0]!.id;
  });

  it("insert, insertByName and insertMultiple, read back by retrieve and retrieveByName", async () => {
    await Datapoints.insert(id, points.slice(0, 16));
    await Datapoints.insertByName(name, points.slice(16, 32));
    await Datapoints.insertMultiple([
      { name, datapoints: points.slice(32) },
      { name: "state", datapoints: [{ timestamp: 5, value: "öpen" }] },
    ]);
    assert.deepEqual(await Datapoints.retrieve(id, { start: 0, limit: 1000 }), { name, datapoints: points });
    assert.deepEqual(
      (await Datapoints.retrieveByName(name, { start: 1_800_000, end: 3_600_000 })).datapoints,
      [points[1]],
    );
    assert.deepEqual((await Datapoints.retrieveByName("state")).datapoints, [
      { timestamp: 5, value: "öpen" },
    ]);
    const outside = await Datapoints.retrieve(id, { start: 1, end: 2, includeOutsidePoints: true });
    assert.deepEqual(outside.datapoints, points.slice(0, 2));
  });

  it("aggregates carry the fields requested, with the spelling this client knows", async () => {
    const aggregates = "avg,max,min,count,sum,int,step,cv,dv,tv";
    const { datapoints } = await Datapoints.retrieveByName(name, {
      start: 0,
      end: 7_200_000,
      aggregates,
      granularity: "1h",
    });
    assert.equal(datapoints.length, 2);
    const first = datapoints[0]!;
    assert.deepEqual(
      [first.count, first.max, first.min, first.interpolation, first.stepInterpolation],
      [2, 0.1, 0, 0, 0],
    );
    assert.ok(Math.abs(first.average! - 0.1) < 1e-12 && Math.abs(first.totalVariation! - 0.2) < 1e-12);
    assert.ok(first.continousVariance! > 0 && Math.abs(first.discreteVariance! - 0.0025) < 1e-12);
  });

  it("retrieveMultiple, retrieveLatest and retrieveCSV", async () => {
    const items = await Datapoints.retrieveMultiple({
      items: [{ name }, { name, aggregates: "max", granularity: "1d" }],
      start: 0,
      limit: 2,
    });
    assert.deepEqual(items[0], { name, datapoints: points.slice(0, 2) });
    assert.deepEqual(items[1]!.datapoints, [{ timestamp: 0, max: 4.7 }]);
    assert.deepEqual(await Datapoints.retrieveLatest(name), points.at(-1));
    assert.deepEqual(await Datapoints.retrieveLatest(name, 1_800_000), points[0]);
    assert.equal(await Datapoints.retrieveLatest(name, 0), undefined);
    const csv = await Datapoints.retrieveCSV({
      items: [{ name }],
      aggregates: ["min", "count"],
      granularity: "12h",
      start: 0,
    });
    assert.equal(csv.trimEnd(), `timestamp,${name}|min,${name}|count\n0,0,24\n43200000,2.4,24`);
  });

  it("delete and deleteRange", async () => {
    await Datapoints.delete(name, 0);
    await Datapoints.deleteRange(name, 3_600_000, points.at(-1)!.timestamp);
    assert.deepEqual((await Datapoints.retrieve(id, { start: 0 })).datapoints, [points[1], points.at(-1)]);
  });
});

it("every method has returned", () => calls.assertAllReturned());
