// o.js, a published OData client that uses no metadata, unmodified.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { o } from "odata";
import { startTestServer, type TestServer, withFront } from "../support/server.ts";

let server: TestServer;
let handler: () => ReturnType<typeof o>;

before(async () => {
  server = await startTestServer(withFront);
  handler = () =>
    o(`${server.baseUrl}/odata/v1/projects/${server.project}/`, {
      headers: { "api-key": server.key, "Content-Type": "application/json" },
    });
  const items = ["a", "b", "c"].map((name) => ({ name, source: "S&P's" }));
  await server.ask.v06("POST /assets", { items });
});
after(() => server.close());

test("a list with a filter, a limit and a count returns its rows", async () => {
  const query = { $filter: "Source eq 'S&P''s' and Name ne 'b'", $top: 1, $count: true, $select: "Name" };
  const found: unknown = await handler().get("Assets").query(query);
  assert.deepEqual(found, [{ Name: "a" }]);
});

test("a refusal is the response that is thrown", async () => {
  const request = handler().get("Assets").query({ $filter: "Nope(" });
  await assert.rejects(request, (response: Response) => response.status === 400);
});
