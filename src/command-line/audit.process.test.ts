// `millrace audit verify`, the records of commands, and the removal of old records.
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, test } from "node:test";
import { temporaryFolder } from "../../test/support/folder.ts";
import { endLeftProcesses, runMillrace, serveMillrace } from "../../test/support/process.ts";

after(endLeftProcesses);

const key = "a-key-that-is-long-enough";
const environment = { MILLRACE_ADMIN_KEY: key, MILLRACE_LOG_LEVEL: "silent" };

test("commands are recorded, verified beside the server, and old records are removed", async () => {
  const folder = temporaryFolder();
  const data = join(folder, "millrace-data");
  const run = (...words: string[]) => runMillrace(words, environment, folder).ended;
  const serve = () => serveMillrace({ ...environment, MILLRACE_AUDIT_DAYS: "30" }, folder);
  const first = await serve();
  const read = async (path: string, baseUrl = first.baseUrl) => {
    const response = await fetch(`${baseUrl}/api/0.6/projects/default/audit${path}`, {
      headers: { "api-key": key },
    });
    return ((await response.json()) as { data: Record<string, unknown> & { items: unknown[] } }).data;
  };
  const made = async (user: string) => (await run("key", "create", "--user", user)).output.split(" ")[1];
  const [annas, bertas] = [await made("anna"), await made("berta")];
  const { items } = await read("?kind=keys");
  const shown = (items as { action: string; credential: string; ids: string[]; result: string }[]).map(
    ({ action, credential, ids, result }) => [action, credential, ids, result],
  );
  assert.deepEqual(shown, [
    ["millrace key create", "command", ["berta", bertas], "done"],
    ["millrace key create", "command", ["anna", annas], "done"],
  ]);
  const intact = await run("audit", "verify");
  assert.deepEqual([intact.status, intact.output.split(":")[0]], [0, "The audit log of default is in order"]);
  assert.equal((await run("audit")).status, 2);
  const created = await run("project", "create", "other");
  const [otherKey] = /(?<=\n\s*)\S{20,}(?=\s*\n)/.exec(created.output) ?? assert.fail(created.output);
  const other = await fetch(`${first.baseUrl}/api/0.6/projects/other/audit`, {
    headers: { "api-key": otherKey },
  });
  const ofOther = (await other.json()) as { data: { items: Record<string, unknown>[] } };
  assert.deepEqual(
    ofOther.data.items.map(({ kind, action, ids }) => [kind, action, (ids as string[])[0]]),
    ["keys", "settings"].map((kind) => [kind, "millrace project create", "other"]),
  );
  first.child.kill("SIGTERM");
  await first.ended;

  const database = new DatabaseSync(join(data, "catalog.db"));
  const [{ newest }] = database.prepare("select max(seq) as newest from audit_records").all() as [
    { newest: number },
  ];
  database.exec(`update audit_records set time = 1 where seq < ${newest}`);
  const changed = await run("audit", "verify");
  assert.deepEqual(
    [changed.status, changed.output],
    [3, "Record 1 of the audit log of default was changed\n"],
  );
  database.close();

  const second = await serve();
  const removed = async () => (await read("/verification", second.baseUrl))["removedSeq"];
  while ((await removed()) !== newest - 1) await new Promise((resolve) => setTimeout(resolve, 20));
  const verified = await read("/verification", second.baseUrl);
  assert.deepEqual([verified["isIntact"], verified["checked"]], [true, 2]);
  const [removal] = (await read("?limit=1", second.baseUrl)).items as { action: string; ids: string[] }[];
  assert.deepEqual([removal!.action, removal!.ids], ["remove old audit records", [`1-${newest - 1}`]]);
  second.child.kill("SIGTERM");
  await second.ended;
});

test("a backup that a command makes without a server is recorded as an export", async () => {
  const folder = temporaryFolder();
  const first = await serveMillrace(environment, folder);
  first.child.kill("SIGTERM");
  await first.ended;
  const backups = join(temporaryFolder(), "backups");
  const made = await runMillrace(["backup", backups], { ...environment, MILLRACE_PORT: "0" }, folder).ended;
  assert.equal(made.status, 0, made.errors);
  const second = await serveMillrace(environment, folder);
  const response = await fetch(`${second.baseUrl}/api/0.6/projects/default/audit?kind=export`, {
    headers: { "api-key": key },
  });
  const { data } = (await response.json()) as { data: { items: Record<string, unknown>[] } };
  assert.deepEqual(
    data.items.map(({ action, credential, ids, result }) => [action, credential, ids, result]),
    [["millrace backup", "command", [backups], "done"]],
  );
  second.child.kill("SIGTERM");
  await second.ended;
});
