// The server runs the connectors of a folder: it starts, restarts and stops them, and none is left without
// it.
import assert from "node:assert/strict";
import { mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { ConnectedServer, until } from "../../test/support/connector.ts";
import { temporaryFolder } from "../../test/support/folder.ts";
import { endLeftProcesses } from "../../test/support/process.ts";

after(endLeftProcesses);

const folder = temporaryFolder();
const plant = join(folder, "plant");
const server = new ConnectedServer({ MILLRACE_CONNECTORS: folder });

/** A file of the plant with one point, which was last changed a minute ago. */
function point(series: string, time: number): void {
  const file = join(plant, `${time}.csv`);
  writeFileSync(file, `tag,time,value\n${series},${time},1\n`);
  const seconds = Date.now() / 1_000 - 60;
  utimesSync(file, seconds, seconds);
}

function configure(name: string, prefix: string): void {
  const files = [{ pattern: "*.csv", points: { series: "{tag}", timestamp: "time", value: "value" } }];
  const source = { type: "folder", path: plant, every: "50ms", settled: "0s", files };
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the connector replaces them.
  const destination = { server: "${MILLRACE_SERVER}", key: "${CONNECTOR_KEY}", prefix };
  writeFileSync(join(folder, `${name}.yaml`), JSON.stringify({ version: 1, name, source, destination }));
}

/** The processes of a connector that the server has started. */
const startedOf = (name: string): number[] =>
  [...server.errors().matchAll(/"connector":"([^"]+)","msg":"started, process (\d+)"/g)]
    .filter(([, file]) => file === `${name}.yaml`)
    .map(([, , pid]) => Number(pid));

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test("connectors run, are started again, follow their files, and end with the server", async () => {
  mkdirSync(plant);
  configure("good", "a/");
  writeFileSync(join(folder, "wrong.yaml"), "version: 1\nname: wrong\n");
  point("s", 1);
  await server.start();
  await until(async () => (await server.countOf("a/s")) === 1, "the first point");
  const [first] = startedOf("good");
  process.kill(first!, "SIGKILL");
  point("s", 2);
  await until(async () => (await server.countOf("a/s")) === 2, "the point after the kill");
  assert.match(server.errors(), /"connector":"good.yaml","msg":"ended with signal SIGKILL; it is started/);
  assert.match(server.errors(), /"connector":"wrong.yaml","msg":".*source.type must be one of/);
  await until(() => startedOf("wrong").length >= 2, "another attempt with the wrong file");

  configure("good", "b/");
  await until(() => startedOf("good").length === 3, "the start of the changed file");
  point("s", 3);
  await until(async () => (await server.countOf("b/s")) > 0, "a point with the other prefix");
  const status = async () => (await server.items("GET", "connectors?name=good"))[0]?.["status"];
  await until(async () => (await status()) === "RUNNING", "the report");
  rmSync(join(folder, "good.yaml"));
  await until(async () => (await status()) === "STOPPED", "the end of a connector without its file");

  configure("good", "c/");
  await until(() => startedOf("good").length === 4, "the start of the file that is back");
  await server.kill();
  const killedPid = startedOf("good").at(-1)!;
  await until(() => !isAlive(killedPid), "the end of a connector whose server was killed");

  await server.start();
  await until(() => startedOf("good").length === 1, "the start with the next server");
  assert.equal(await server.stop(), 0);
  assert.ok(!isAlive(startedOf("good")[0]!), "no connector is left");
});
