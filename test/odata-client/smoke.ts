// What a program written against the client that odata2ts generates does; checked by its types first.
//
// Imports what `odata-client.test.ts` generates, and is run by it on the server and the assets it has made.
import assert from "node:assert/strict";
import { test } from "node:test";
import { FetchClient } from "@odata2ts/http-client-fetch";
import { MillraceService } from "./generated/MillraceService.js";

const client = new FetchClient({ headers: { "api-key": process.env["ODATA_KEY"]! } });
const service = new MillraceService(client, process.env["ODATA_ROOT"]!);

const names = ({ data }: { data: { value: readonly { Name: string | null }[] } }) =>
  data.value.map(({ Name }) => Name);

test("a query with a filter, a selection, an expansion and a count", async () => {
  const { data } = await service.Assets().query((builder, asset) =>
    builder
      .select("Id", "Name")
      .expand("Parent")
      .filter(asset.Source.eq("SAP").and(asset.Name.contains("pump")))
      .count()
      .top(5),
  );
  assert.equal(data["@odata.count"], 1);
  const [pump] = data.value;
  assert.deepEqual([pump?.Name, pump?.Parent?.Name], ["pump 1", "plant"]);
});

test("an entity has all properties, absent ones null, and is navigated from", async () => {
  const [pump] = (await service.AssetsSearch({ Search: "pump 1" })).data.value;
  const { data } = await service.Assets(pump!.Id).query();
  assert.deepEqual([data.Name, data.DataSetId, data.ParentExternalId], ["pump 1", null, "PLANT"]);
  assert.match(data.CreatedTime, /Z$/);
  assert.equal((await service.Assets(pump!.Id).Parent().query()).data.Name, "plant");
  assert.deepEqual(names(await service.Assets(pump!.Id).Timeseries().query()), ["pressure"]);
});

test("functions", async () => {
  assert.deepEqual(names(await service.AssetsRoots()), ["plant"]);
  assert.equal(names(await service.AssetsSearch({ Search: "pump" })).length, 2);
});

test("a quote that the client does not double is refused, and the client says so", async () => {
  const asked = service.Assets().query((builder, asset) => builder.filter(asset.Source.eq("SAP's")));
  await assert.rejects(asked, /Syntax error/);
});
