// kill -9 at each step of the first start, and of a later one: the next start recovers.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, it } from "node:test";
import { temporaryFolder } from "../support/folder.ts";
import { endLeftProcesses, runMillrace, serveMillrace } from "../support/process.ts";
import { isLong, randomFrom, seed } from "../support/proof.ts";

after(endLeftProcesses);
const adminKey = "a-key-of-this-test-with-enough-letters";
const preload = new URL("../support/kill-at-step.ts", import.meta.url).href;
const environment = { MILLRACE_ADMIN_KEY: adminKey, MILLRACE_PORT: "0" };

/** An environment in which a start ends at a step; the count of steps restarts. */
function killing(folder: string, killAt: number) {
  const countFile = join(folder, "steps");
  writeFileSync(countFile, "");
  const options = { NODE_OPTIONS: `--import=${preload}`, KILL_STEPS: countFile, KILL_AT: `${killAt}` };
  return { countFile, environment: { ...environment, ...options } };
}

async function stop(server: Awaited<ReturnType<typeof serveMillrace>>): Promise<void> {
  server.child.kill("SIGTERM");
  await server.ended;
}

async function stepsOf(folder: string): Promise<number> {
  const { countFile, environment } = killing(folder, -1);
  const server = await serveMillrace(environment, folder);
  const steps = readFileSync(countFile).length;
  await stop(server);
  return steps;
}

const random = randomFrom(seed);
/** All steps in the long form, else some of each part of a start. */
function someOf(steps: number, count: number): number[] {
  const stride = isLong ? 1 : steps / count;
  const all = Array.from({ length: Math.floor(steps / stride) }, (_, index) => index * stride);
  return all.map((from) => Math.floor(from + random() * stride) + 1);
}

/** A start that ends at a step or, when it comes to serve before it, then. */
async function startUntil(folder: string, killAt: number): Promise<void> {
  const run = runMillrace(["serve"], killing(folder, killAt).environment, folder);
  const watch = setInterval(() => {
    if (/^Millrace serves/m.test(run.output())) run.child.kill("SIGKILL");
  }, 10);
  const { signal, errors } = await run.ended;
  clearInterval(watch);
  assert.equal(signal, "SIGKILL", errors);
}

async function makeAsset(server: Awaited<ReturnType<typeof serveMillrace>>, name: string): Promise<number> {
  const url = `${server.baseUrl}/api/0.5/projects/default/assets`;
  const headers = { "api-key": adminKey };
  const made = { method: "POST", headers, body: JSON.stringify({ items: [{ name }] }) };
  assert.equal((await fetch(url, made)).status, 200);
  const listed = await fetch(url, { headers });
  return ((await listed.json()) as { data: { items: unknown[] } }).data.items.length;
}

it(`each step of the first start, PROOF_SEED=${seed}`, async (t) => {
  const steps = await stepsOf(temporaryFolder());
  assert.ok(steps > 20, `${steps} steps`);
  const chosen = someOf(steps, 8);
  for (const killAt of chosen) {
    const folder = temporaryFolder();
    await startUntil(folder, killAt);
    const server = await serveMillrace(environment, folder);
    assert.equal(await makeAsset(server, "pump"), 1, `killed at step ${killAt} of ${steps}`);
    await stop(server);
  }
  t.diagnostic(`${chosen.length} of ${steps} steps`);
});

it(`each step of a later start, one after the other on one folder, PROOF_SEED=${seed}`, async () => {
  const folder = temporaryFolder();
  await stop(await serveMillrace(environment, folder));
  const steps = await stepsOf(folder);
  let assets = 0;
  for (const killAt of someOf(steps, 4)) {
    for (let time = 0; time < 2; time++) await startUntil(folder, killAt);
    const server = await serveMillrace(environment, folder);
    assert.equal(await makeAsset(server, `pump ${killAt}`), ++assets, `killed at step ${killAt} of ${steps}`);
    await stop(server);
  }
});
