// Columns of sequences over OData, of more and longer sequences than one query reads.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { odataOf } from "../../../test/support/odata.ts";
import { idsOf, startTestServer, type TestServer } from "../../../test/support/server.ts";
import { limits } from "../../limits.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const columnsEach = limits.sequenceColumnsMax;

async function create(count: number, description: string): Promise<number[]> {
  const columns = Array.from({ length: columnsEach }, (_, at) => ({
    externalId: `column ${at}`,
    valueType: "LONG",
    description,
  }));
  const items = Array.from({ length: count }, () => ({ columns }));
  return idsOf(await server.ask.v06("POST /sequences", { items }));
}

test("the columns of many sequences, and of long ones, come page by page and are counted", async () => {
  const ids = [
    ...(await create(20, "d".repeat(1_000))),
    ...(await create(350, "")),
    ...(await create(350, "")),
  ];
  const ask = odataOf(server);
  const counted = await ask("SequenceColumns?$count=true&$top=1");
  assert.equal(counted.json?.["@odata.count"], ids.length * columnsEach, counted.text);
  const seen: string[] = [];
  const pages = 30;
  for (let page = 0, path: string | undefined = "SequenceColumns"; page < pages; page++) {
    const { status, items, next, text } = await ask(path!);
    assert.equal(status, 200, text);
    for (const item of items) seen.push(`${item["SequenceId"]} ${item["ExternalId"]}`);
    path = next;
  }
  const expected = ids.flatMap((id) => Array.from({ length: columnsEach }, (_, at) => `${id} column ${at}`));
  assert.ok(seen.length > 20 * columnsEach);
  assert.deepEqual(seen, expected.slice(0, seen.length));
});
