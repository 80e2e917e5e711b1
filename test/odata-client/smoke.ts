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

const day = { Start: "2024-01-01T00:00:00Z", End: "2024-01-02T00:00:00Z", Granularity: "2h" };

test("points and aggregates, of one series and of several", async () => {
  const [series] = (await service.TimeseriesSearch({ Search: "pressure" })).data.value;
  const one = service.Timeseries(series!.Id);
  const points = await one.DataPoints().query((builder, point) => builder.filter(point.Value.gt(1)));
  assert.deepEqual(
    points.data.value.map(({ Value }) => Value),
    [2, 6],
  );
  assert.equal((await one.Latest().query()).data.Value, 6);
  const { data: bound } = await one.Aggregate(day);
  const { data: several } = await service.TimeseriesAggregate({ ...day, Tags: "pressure" });
  for (const { value } of [bound, several])
    assert.deepEqual(
      value.map(({ Max, Count }) => [Max, Count]),
      [
        [2, 2],
        [6, 1],
      ],
    );
});

test("events on an asset, and rows of raw data, also a new one", async () => {
  const [pump] = (await service.AssetsSearch({ Search: "pump 1" })).data.value;
  const events = await service
    .Events()
    .query((builder, event) => builder.filter(event.AssetIds.any((id) => id.it.eq(pump!.Id))));
  assert.deepEqual(
    events.data.value.map(({ Type }) => Type),
    ["alarm"],
  );
  const rows = service.Raw("d").Tables("t").Rows();
  assert.equal((await rows.create({ Key: "n", RawData: {} })).status, 201);
  assert.deepEqual(
    (await rows.query()).data.value.map(({ Key }) => Key),
    ["k", "n"],
  );
});

test("a quote that the client does not double is refused, and the client says so", async () => {
  const asked = service.Assets().query((builder, asset) => builder.filter(asset.Source.eq("SAP's")));
  await assert.rejects(asked, /Syntax error/);
});
