// `millrace serve --demo` as people start it: a data folder of its own, a load that survives kill -9, the key
// of the operator once, a link on each start.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { temporaryFolder } from "../../test/support/folder.ts";
import {
  endLeftProcesses,
  type RunningProcess,
  runMillrace,
  serveMillrace,
} from "../../test/support/process.ts";

afterEach(endLeftProcesses);

const waitMsMax = 120_000;

async function printed({ output }: RunningProcess, pattern: RegExp): Promise<RegExpExecArray> {
  const giveUpMs = Date.now() + waitMsMax;
  while (true) {
    const found = pattern.exec(output());
    if (found) return found;
    assert.ok(Date.now() < giveUpMs, `no ${pattern} in:\n${output()}`);
    await pause(50);
  }
}

test("the demo has its own folder, continues after kill -9, and shows the operator's key once", async () => {
  const folder = temporaryFolder();
  // A short history: the public operation takes its days.
  const own = await serveMillrace({ MILLRACE_DATA: "./millrace-data-demo" }, folder);
  const [, adminKey] = /API key {3}(mr_\S+)/.exec(own.output())!;
  const path = `${own.baseUrl}/api/0.6/projects/default/demo`;
  const started = await fetch(path, {
    ...{ method: "POST", headers: { "api-key": adminKey! }, body: JSON.stringify({ days: 1 }) },
  });
  assert.equal(started.status, 200);
  own.child.kill("SIGKILL");
  await own.ended;

  const first = runMillrace(["serve", "--demo"], { MILLRACE_PORT: "0" }, folder);
  const [, operatorKey] = await printed(
    first,
    /operator {2}operator-24.*\n {2}API key {3}(mr_\S+) \(shown once\)/,
  );
  const [, baseUrl] = await printed(first, /Millrace serves (\S+) with its data in .*millrace-data-demo\n/);
  assert.match(first.output(), /^Loading the demo plant into .*millrace-data-demo\n/);
  await printed(first, /sign-in#token=ml_/);
  const list = (await (
    await fetch(`${baseUrl}/api/0.6/projects/default/assets?limit=1000`, {
      headers: { "api-key": operatorKey! },
    })
  ).json()) as { data: { items: { name: string }[] } };
  assert.ok(list.data.items.length > 30 && list.data.items.every(({ name }) => name.startsWith("24")));
  assert.ok(!existsSync(join(folder, "millrace-data")), "the folder of the plant itself is not touched");
  first.child.kill("SIGTERM");
  assert.equal((await first.ended).status, 0);

  const second = runMillrace(["serve", "--demo"], { MILLRACE_PORT: "0" }, folder);
  await printed(
    second,
    /sign-in#token=ml_\S+\n\n.*MILLRACE_DATA='.*-demo' MILLRACE_BASE_URL='http:\S+' npm run millrace/,
  );
  assert.doesNotMatch(second.output(), /operator|Loading/);
  second.child.kill("SIGTERM");
  assert.equal((await second.ended).status, 0);
});

test("an option near --demo is refused, with the usage", async () => {
  const folder = temporaryFolder();
  const refused = await runMillrace(["serve", "--demos"], {}, folder).ended;
  assert.equal(refused.status, 2);
  assert.match(refused.errors, /--demo\b/);
});
