// All methods of @cognite/sdk 1.7.7 are tested: each class of the client has a test file that calls all of
// them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import sdk from "@cognite/sdk";
import { methodsOf } from "../support/every-method.ts";
import { startTestServer, type TestServer, withFront } from "../support/server.ts";

/** The test file that runs every method of a class. */
const files: Readonly<Record<string, string>> = {
  Analytics: "cognite-sdk-analytics",
  ApiKeys: "cognite-sdk-access",
  Assets: "cognite-sdk",
  Datapoints: "cognite-sdk",
  Events: "cognite-sdk-events",
  Files: "cognite-sdk-files",
  Groups: "cognite-sdk-access",
  Login: "cognite-sdk-login",
  Logout: "cognite-sdk-login",
  Projects: "cognite-sdk",
  Raw: "cognite-sdk-raw",
  SecurityCategories: "cognite-sdk-access",
  TimeSeries: "cognite-sdk",
  Users: "cognite-sdk-access",
};

let server: TestServer;
before(async () => {
  server = await startTestServer(withFront);
  sdk.configure({ baseUrl: server.baseUrl, project: server.project, apiKey: server.key });
});
after(() => server.close());

const isClass = (member: unknown): member is object =>
  typeof member === "function" && member !== sdk.instance && methodsOf(member).length > 0;

it("every class of the client has a file that must run all its methods", () => {
  const classes = Object.entries(sdk).filter(([, member]) => isClass(member));
  const names = classes.map(([name]) => name).filter((name) => name !== "ThreeD");
  assert.deepEqual(names.toSorted(), Object.keys(files).toSorted());
  for (const [name, file] of Object.entries(files)) {
    const text = readFileSync(new URL(`${file}.test.ts`, import.meta.url), "utf8");
    const [, recorded = ""] = /recordReturns\(\{([^}]*)\}/.exec(text) ?? [];
    const found = recorded.split(",").map((one) => one.replace("sdk.", "").split(":").at(-1)!.trim());
    assert.ok(found.includes(name), `${file} records the calls of ${name}`);
  }
});

describe("the functions of the client that belong to no class", () => {
  const functions = [
    "configure",
    "setBearerToken",
    "rawGet",
    "rawPost",
    "rawPut",
    "rawDelete",
    "getMetadata",
  ];
  const internal = ["CogniteSDKError", "apiUrl", "projectUrl", "instance"];

  it("are these", () => {
    const found = Object.entries(sdk).filter(
      ([, member]) => typeof member === "function" && !isClass(member),
    );
    assert.deepEqual(found.map(([name]) => name).toSorted(), [...functions, ...internal].toSorted());
  });

  it("configure, setBearerToken, apiUrl and projectUrl address this server", () => {
    const { baseUrl, project } = sdk.configure({});
    assert.deepEqual([baseUrl, project], [server.baseUrl, server.project]);
    sdk.setBearerToken("a-token-beside-the-key");
    assert.equal(sdk.apiUrl(0.5), "api/0.5");
    assert.equal(sdk.projectUrl(), `projects/${server.project}`);
  });

  it("rawPost, rawGet, rawPut, rawDelete and getMetadata", async () => {
    const root = `${server.baseUrl}/api/0.5/projects/${server.project}`;
    const dataOf = (response: unknown) =>
      (response as { data: { data: { items: { id: number; name: string }[] } } }).data.data?.items;
    const made = dataOf(await sdk.rawPost(`${root}/assets`, { data: { items: [{ name: "raw call" }] } }));
    const { id } = made[0]!;
    const read = () => sdk.rawGet(`${root}/assets/${id}`);
    assert.equal(dataOf(await read())[0]!.name, "raw call");
    await sdk.rawPut(`${root}/assets`, { data: { items: [{ id, name: "overwritten" }] } });
    const page = await sdk.Assets.search({ name: "overwritten" });
    assert.deepEqual(
      page.items.map((one) => one.id),
      [id],
    );
    const metadata = sdk.getMetadata(page);
    assert.equal(metadata?.status, 200);
    assert.ok(metadata.headers["x-request-id"]);
    await sdk.rawDelete(`${root}/assets/${id}`);
    await assert.rejects(read(), { status: 404, message: `No such ids: ${id} | code: 404` });
  });
});

describe("3D, which is not served, is refused as an unknown operation", () => {
  // A list of one id reads as the id in an address.
  const given = [[1], [1], [1]];
  for (const method of methodsOf(sdk.ThreeD))
    it(method, async () => {
      const call = Reflect.get(sdk.ThreeD, method) as (...values: unknown[]) => Promise<unknown>;
      await assert.rejects(call(...given), (error) => {
        const { status, message } = error as { status: number; message: string };
        return status === 404 && message.startsWith("There is no operation");
      });
    });
});
