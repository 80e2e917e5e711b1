// Only its owner may read a data folder, with any umask of the server's start and any modes
// it finds.
import assert from "node:assert/strict";
import { chmodSync, lstatSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { temporaryFolder } from "../test/support/folder.ts";
import { endLeftProcesses, runMillrace, serveMillrace } from "../test/support/process.ts";

after(endLeftProcesses);
const skip = process.platform === "win32" && "this system has no modes";
const adminKey = "a-key-of-this-test-with-enough-letters";
const openUmask = ["sh", "-c", 'umask 000; exec "$@"', "sh"];

/** Every path of a folder that users other than its owner have access to. */
function openToOthers(folder: string): string[] {
  const paths = [folder, ...readdirSync(folder, { recursive: true }).map((name) => join(folder, `${name}`))];
  return paths.filter((path) => !lstatSync(path).isSymbolicLink() && (lstatSync(path).mode & 0o077) !== 0);
}

async function writeOfEachKind(baseUrl: string, round: number): Promise<void> {
  const post = async (path: string, body: unknown) => {
    const url = `${baseUrl}/api/0.5/projects/default${path}`;
    const headers = { "api-key": adminKey };
    const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
    assert.equal(response.status, 200, path);
    return ((await response.json()) as { data: Record<string, string> }).data;
  };
  await post("/timeseries", { items: [{ name: `pump ${round}` }] });
  await post(`/timeseries/data/pump%20${round}`, { items: [{ timestamp: 1, value: 1 }] });
  const { uploadURL } = await post("/files/initupload", { fileName: `manual ${round}` });
  assert.equal((await fetch(uploadURL!, { method: "PUT", body: "bytes" })).status, 200);
}

test("a folder that others could read is closed to them, with all that is in it", { skip }, async () => {
  const folder = temporaryFolder();
  const data = join(folder, "millrace-data");
  mkdirSync(data);
  chmodSync(data, 0o755);
  const outside = join(folder, "outside");
  writeFileSync(outside, "");
  chmodSync(outside, 0o666);
  symlinkSync(outside, join(data, "link"));
  const environment = { MILLRACE_ADMIN_KEY: adminKey };
  const first = await serveMillrace(environment, folder, openUmask);
  await writeOfEachKind(first.baseUrl, 1);
  assert.deepEqual(openToOthers(data), [], "while it serves");
  first.child.kill("SIGTERM");
  const { errors } = await first.ended;
  assert.match(errors, /Other users had access to the data folder .* Only its owner has now: \."/);
  assert.deepEqual(openToOthers(data), []);

  for (const name of readdirSync(data, { recursive: true }))
    if (!lstatSync(join(data, `${name}`)).isSymbolicLink()) chmodSync(join(data, `${name}`), 0o777);
  const second = await serveMillrace(environment, folder, openUmask);
  assert.deepEqual(openToOthers(data), []);
  await writeOfEachKind(second.baseUrl, 2);
  assert.equal((await runMillrace(["key", "create"], {}, folder, openUmask).ended).status, 0);
  assert.deepEqual(openToOthers(data), []);
  second.child.kill("SIGTERM");
  assert.match((await second.ended).errors, /has now: .*catalog\.db.*secret|has now: .* more"/);

  const third = await serveMillrace(environment, folder);
  third.child.kill("SIGTERM");
  assert.doesNotMatch((await third.ended).errors, /Other users/);
  assert.equal((await runMillrace(["doctor"], {}, folder, openUmask).ended).status, 0);
  assert.deepEqual(openToOthers(data), []);
  assert.equal(lstatSync(outside).mode & 0o777, 0o666, "what a link leads to is left alone");
});

const isRoot = process.getuid?.() === 0;

test("a folder of another user that cannot be closed is refused", { skip: skip || !isRoot }, async () => {
  const folder = temporaryFolder();
  chmodSync(folder, 0o711);
  const data = join(folder, "data");
  mkdirSync(data);
  chmodSync(data, 0o777);
  const nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
  const { status, errors } = await runMillrace(["serve"], { MILLRACE_DATA: data }, folder, nobody).ended;
  assert.equal(status, 1);
  assert.match(errors, /^Other users have access to the data folder .*: EPERM/);
  assert.deepEqual(
    readdirSync(data).filter((name) => name !== "lock"),
    [],
  );
});
