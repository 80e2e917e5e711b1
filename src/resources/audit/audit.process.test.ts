// A server that is killed in the midst of an export: the audit log says that its result is unknown.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { endLeftProcesses, serveMillrace } from "../../../test/support/process.ts";

after(endLeftProcesses);

const key = "a-key-that-is-long-enough";
/** More bytes than the buffers of a connection take, so that the export cannot end. */
const [rows, cellLength] = [2_500, 10_000];

test("an export that a kill interrupts is recorded with an unknown result", async () => {
  const folder = temporaryFolder();
  const environment = { MILLRACE_ADMIN_KEY: key, MILLRACE_LOG_LEVEL: "silent" };
  const first = await serveMillrace(environment, folder);
  const send = (baseUrl: string, method: string, path: string, body?: object) =>
    fetch(`${baseUrl}/api/0.6/projects/default${path}`, {
      ...{ method, headers: { "api-key": key, accept: "text/csv" } },
      ...(body && { body: JSON.stringify(body) }),
    });
  const columns = { text: "x".repeat(cellLength) };
  for (let begin = 0; begin < rows; begin += 500) {
    const items = Array.from({ length: 500 }, (_, index) => ({ key: `${begin + index}`, columns }));
    const written = await send(first.baseUrl, "POST", "/raw/a/b/create?ensureParent=true", { items });
    assert.equal(written.status, 200, await written.text());
  }
  const sending = await send(first.baseUrl, "GET", "/raw/a/b?limit=10000");
  assert.equal(sending.status, 200);
  first.child.kill("SIGKILL");
  await first.ended;
  await sending.text().then(
    () => assert.fail("the export was complete before the kill"),
    () => undefined,
  );

  const second = await serveMillrace(environment, folder);
  const { data } = (await (await send(second.baseUrl, "GET", "/audit")).json()) as {
    data: { items: { action: string; result: string; status?: number; ids: string[] }[] };
  };
  const [newest] = data.items;
  assert.deepEqual(
    [newest?.action, newest?.result, newest?.status, newest?.ids],
    ["GET /raw/{database}/{table}", "unknown", undefined, ["a", "b"]],
  );
  const verified = await (await send(second.baseUrl, "GET", "/audit/verification")).json();
  assert.equal((verified as { data: { isIntact: boolean } }).data.isIntact, true);
  second.child.kill("SIGTERM");
  await second.ended;
});
