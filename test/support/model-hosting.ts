// Common steps of tests of model hosting: upload a package, create a model of it, wait for its job.
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { findSandbox } from "../../src/model-runner/sandbox.ts";
import { everything } from "../../src/query/filter.ts";
import { byId } from "../../src/query/page.ts";
import { runDueSchedules } from "../../src/resources/models/schedules/scheduler.ts";
import { scheduleTable } from "../../src/resources/models/schedules/schema.ts";
import type { Item, TestServer } from "./server.ts";
import { packageOf } from "./source-package.ts";

const found = await findSandbox();

/** Options for a test that runs models: it is skipped where the server would refuse to. */
export const hosting = {
  skip: "refusal" in found && `models are not run here: ${found.refusal} (${found.flaw ?? "no python3"})`,
};

/** Python for a model of the administrator: a run lasts until the test has made a series of this name. */
export const waitForSeries = `import json, os, time, urllib.request
def wait_for_series(name):
  platform, project, key = (os.environ["COGNITE_" + one] for one in ("BASE_URL", "PROJECT", "API_KEY"))
  url = "%s/api/0.6/projects/%s/timeseries?name=%s" % (platform, project, name)
  while True:
    try:
      request = urllib.request.Request(url, headers={"api-key": key})
      with urllib.request.urlopen(request, timeout=60) as response:
        if json.load(response)["data"]["items"]:
          return
    except OSError:
      pass
    time.sleep(0.1)
`;

export function modelHosting(server: Pick<TestServer, "ask">, key?: string) {
  const headers = key === undefined ? {} : { "api-key": key };
  const send = async (methodAndPath: string, body?: unknown) => {
    const [method, path] = methodAndPath.split(" ");
    return server.ask.v06(`${method} /analytics/models${path}`, body, headers);
  };

  /** The one item of a response with status 200, or else its data. */
  async function sent(methodAndPath: string, body?: unknown): Promise<Item> {
    const response = await send(methodAndPath, body);
    assert.equal(response.status, 200, response.text);
    return response.items[0] ?? (response.json as { data?: Item }).data ?? {};
  }

  async function newPackage(code: Uint8Array<ArrayBuffer>, packageName = "m"): Promise<number> {
    const operations = { availableOperations: ["TRAIN", "PREDICT"], runtimeVersion: "0.1" };
    const made = await sent("POST /sourcepackages", { name: packageName, packageName, ...operations });
    const put = await fetch(made["uploadUrl"] as string, { method: "PUT", body: code });
    assert.equal(put.status, 200);
    return made["id"] as number;
  }

  const newModel = async (name = "quality") => (await sent("POST ", { name }))["id"] as number;

  /** The version, once its job has ended. */
  async function settled(place: string): Promise<Item> {
    for (;;) {
      const version = await sent(`GET ${place}`);
      if (!["TRAINING", "DEPLOYING"].includes(version["status"] as string)) return version;
      await delay(50);
    }
  }

  /** A model whose active version has this code. */
  async function deployed(
    code: string,
    name?: string,
  ): Promise<{ model: number; version: number; place: string }> {
    const model = await newModel(name);
    const sourcePackageId = await newPackage(await packageOf(code));
    const made = await sent(`POST /${model}/versions`, { name: "first", sourcePackageId });
    assert.equal(made["status"], "AWAITING_MANUAL_DEPLOYMENT");
    const version = made["id"] as number;
    const place = `/${model}/versions/${version}`;
    assert.equal((await sent(`POST ${place}/deploy`, {}))["status"], "DEPLOYING");
    assert.equal((await settled(place))["status"], "READY");
    await sent(`PUT /${model}/update`, { activeVersionId: { set: version } });
    return { model, version, place };
  }

  return { send, sent, newPackage, newModel, settled, deployed };
}

/**
 * Runs the schedules that are due at the clock of the test, and waits for their end. The server looks for due
 * schedules by itself every second: it may be running some of them, or be ending a look before the clock was
 * set.
 */
export async function runDue({ app, key, project }: TestServer): Promise<void> {
  const { services } = app;
  const { projectId } = (await services.keys.callerOf(key))!;
  const schedules = await services.catalog.read(projectId, (tx) =>
    tx.find(scheduleTable, { filter: everything, order: byId, page: { limit: 1_000 } }),
  );
  const ended = async () => {
    while (schedules.some(({ id }) => services.models.jobs.has(id))) await delay(5);
  };
  await ended();
  await runDueSchedules(services, { id: projectId, urlName: project });
  await ended();
}
