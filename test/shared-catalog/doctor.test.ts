// `millrace doctor` on a catalog in PostgreSQL with ClickHouse and S3: in order while a server runs, and each
// kind of damage.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { skipWithout } from "../../scripts/system-packages.ts";
import {
  type ClickHouseServer,
  newClickHouseDatabase,
  startClickHouse,
  statement,
} from "../support/clickhouse.ts";
import { newPlace, type Place, served } from "../support/copies.ts";
import { statement as inPostgres, newDatabase } from "../support/postgres.ts";
import { endLeftProcesses, runMillrace } from "../support/process.ts";
import { testS3 } from "../support/s3-store.ts";

const skip = skipWithout("postgresql") || skipWithout("clickhouse");

describe("millrace doctor on a cluster", { skip }, () => {
  let clickHouse: ClickHouseServer;
  let place: Place;
  let [catalog, points]: string[] = [];
  const doctor = (...words: string[]) =>
    runMillrace(["doctor", ...words], place.settings, place.folder).ended;

  before(async () => {
    clickHouse = await startClickHouse();
    catalog = (await newDatabase()).url;
    points = await newClickHouseDatabase(clickHouse);
    const { location, credentials } = (await testS3()).place();
    place = newPlace({
      MILLRACE_CATALOG: catalog,
      MILLRACE_POINTS: points,
      MILLRACE_BLOBS: `s3://${location.bucket}/${location.prefix}?endpoint=${location.endpoint}`,
      AWS_ACCESS_KEY_ID: credentials!.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials!.secretAccessKey,
    });
  });
  after(() => {
    endLeftProcesses();
    clickHouse.remove();
  });

  test("in order beside a running server, also with a series that was just deleted", async () => {
    const empty = await doctor();
    assert.equal(empty.status, 3);
    assert.match(empty.output, /expected the columns of this version, found no /);
    await served(place, async (ask) => {
      const { items: assets } = await ask("POST /assets", { items: [{ name: "plant" }] });
      const assetId = assets[0]!["id"];
      await ask("POST /assets", { items: [{ name: "pump", parentId: assetId }] });
      await ask("POST /timeseries", { items: [{ name: "level", assetId }, { name: "gone" }] });
      for (const name of ["level", "gone"])
        await ask(`POST /timeseries/data/${name}`, { items: [{ timestamp: 1, value: 1 }] }, "0.5");
      await ask("POST /events", { items: [{ startTime: 1, assetIds: [assetId] }] });
      const found = await ask("GET /timeseries?name=gone", undefined, "0.5");
      await ask("POST /timeseries/delete", { items: [found.items[0]!["id"]] }, "0.5");
      const upload = await ask("POST /files/initupload", { fileName: "drawing", source: "test" }, "0.5");
      const url = JSON.parse(upload.text).data.uploadURL as string;
      assert.ok((await fetch(url, { method: "PUT", body: "seven b" })).ok);
      const sound = await doctor();
      assert.deepEqual([sound.status, sound.errors], [0, ""], sound.output);
    });
    const repair = await doctor("--repair");
    assert.equal(repair.status, 1);
    assert.match(repair.errors, /only examined/);
  });

  test("it finds dangling references, lost projects, sizes of files and points without series", async () => {
    const change = (text: string) => inPostgres(catalog!, text);
    await change(`update events set "assetIds" = '[7]'`);
    await change(`update time_series set "assetId" = 8`);
    await change(`update files set "contentBytes" = 8`);
    await change(`delete from assets where name = 'plant'`);
    await change("insert into erasures (id, in_project) values (99, 98)");
    const database = new URL(points!).pathname.slice(1);
    const insert = "INSERT INTO points (series, t, v, s, version) VALUES (5, 1, 1, '', 1)";
    await statement(clickHouse, insert, database);
    const found = await doctor();
    assert.equal(found.status, 3, found.errors);
    for (const line of [
      /references of events\.assetIds to records of assets, found 1 records .* such as \d+/,
      /references of time_series\.assetId to records of assets, found 1 records/,
      /references of assets\.path to records of assets, found 1 records/,
      /records of existing projects in erasures, found 1 records of other projects, such as 98/,
      /expected 8 bytes, found 7 bytes/,
      /expected points of series in the catalog, found 1 other series, such as 5/,
      /files: 6$/m,
    ])
      assert.match(found.output, line);
    assert.ok(!found.output.includes("pass%2Fword"), "no password is shown");
    const away = { ...place.settings, MILLRACE_CATALOG: "postgres://millrace:secret@127.0.0.1:9/none" };
    const ended = await runMillrace(["doctor"], away, place.folder).ended;
    assert.equal(ended.status, 1);
    assert.ok(!ended.errors.includes("secret"), ended.errors);
  });
});
