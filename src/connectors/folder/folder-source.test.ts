// A file that grows while it is read: it stays where it is, and is read again.
import assert from "node:assert/strict";
import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { ForwardBuffer } from "../forward-buffer.ts";
import { Health } from "../health.ts";
import { Intake } from "../intake.ts";
import { decodeNumbers } from "../point-columns.ts";
import { folderKind } from "./folder-source.ts";

for (const afterwards of ["move", "delete"] as const)
  test(`lines that are added while a file is read are read as well (${afterwards})`, async () => {
    const path = temporaryFolder();
    const file = join(path, "growing.csv");
    const line = (i: number) => `s,${1_700_000_000_000 + i},${i}\n`;
    // More lines than one commit takes.
    const count = 6_000;
    writeFileSync(file, `tag,time,value\n${Array.from({ length: count }, (_, i) => line(i)).join("")}`);
    const buffer = new ForwardBuffer(temporaryFolder(), { bytesMax: 2 ** 30, ageMsMax: 2 ** 40 });
    const health = new Health(() => {});
    const stop = new AbortController();
    let wasLeft = false;
    let commits = 0;
    const intake = new Intake(buffer, {
      ...{ whenFull: "wait", health, signal: stop.signal },
      onStored() {
        commits += 1;
        if (commits === 1) appendFileSync(file, line(count));
        // The whole file has been read, and then again from its start.
        if (commits === 3) wasLeft = existsSync(file);
      },
    });
    const points = { series: "{tag}", timestamp: "time", value: "value" };
    const files = [{ pattern: "*.csv", points }];
    const configuration = { type: "folder", path, every: "10ms", settled: "0s", afterwards, files };
    const source = folderKind.make(configuration as never);
    const running = source.run({
      ...{ instance: "test", isDryRun: false, intake, health, signal: stop.signal },
      server: { latest: async () => [] },
    });
    while (existsSync(file)) await pause(5);
    stop.abort();
    await running;
    const entries = buffer.oldest(1_000_000);
    const values = new Set(entries.flatMap(({ body }) => [...decodeNumbers(body).values]));
    buffer.close();
    assert.equal(wasLeft, true);
    assert.equal(values.size, count + 1);
    assert.ok(values.has(count), "the line that was added");
    assert.equal(existsSync(join(path, "done", "growing.csv")), afterwards === "move");
  });
