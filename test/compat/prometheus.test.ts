// A real Prometheus with the files of deploy/prometheus: its tool checks and tests the alerts, it scrapes a
// server, and every query of the alerts and of the dashboard finds the metrics that it names.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { skipWithout } from "../../scripts/system-packages.ts";
import { temporaryFolder } from "../support/folder.ts";
import { freePort } from "../support/free-port.ts";
import { startTestServer, type TestServer, withFront } from "../support/server.ts";

const deployed = (name: string) => fileURLToPath(new URL(`../../deploy/prometheus/${name}`, import.meta.url));
const alertsFile = "millrace-alerts.yml";
const run = promisify(execFile);
/** The server in this process has to serve meanwhile. */
const promtool = async (...words: string[]) => (await run("promtool", words)).stdout;

interface Dashboard {
  readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
}
const dashboard = JSON.parse(
  readFileSync(new URL("../../docs/grafana/servers-prometheus.json", import.meta.url), "utf8"),
) as Dashboard;
/** The variables are replaced as Grafana does. */
const queries = dashboard.panels
  .flatMap(({ targets }) => targets.map(({ expr }) => expr))
  .map((expr) => expr.replaceAll("$__rate_interval", "10s").replaceAll("$instance", ".+"));

describe("Prometheus", { skip: skipWithout("prometheus") }, () => {
  let server: TestServer;
  let prometheus: string;
  before(async () => {
    server = await startTestServer(withFront);
    await server.ask("POST /timeseries", { items: [{ name: "measured" }] });
    await server.ask("POST /timeseries/data/measured", { items: [{ timestamp: 1, value: 1 }] });
    prometheus = await startPrometheus(new URL(server.baseUrl).host);
  });
  after(() => server.close());

  test("takes the configuration, and the alerts do what their tests say", async () => {
    assert.match(
      await promtool("check", "config", deployed("prometheus.yml")),
      /SUCCESS: 1 rule files found/,
    );
    assert.match(await promtool("test", "rules", deployed("millrace-alerts.test.yml")), /SUCCESS/);
  });

  test("finds every metric that the alerts and the dashboard name", async () => {
    const text = await (await fetch(`${server.baseUrl}/metrics`)).text();
    const named = [readFileSync(deployed(alertsFile), "utf8"), ...queries].flatMap(
      (query) => query.match(/\b(?:millrace|nodejs|process)_\w+/g) ?? [],
    );
    assert.ok(named.length > 30, `${named.length} metrics`);
    for (const name of new Set(named)) assert.match(text, new RegExp(`^${name}[{ ]`, "m"));
  });

  test("has values for each query of the dashboard", async () => {
    for (const query of queries) await until(async () => (await ask(query)).length > 0, `values of ${query}`);
    const [health] = await ask('millrace_health{status="ok"}');
    assert.equal(health?.value[1], "1");
  });

  test("evaluates the alerts, and none is active for a healthy server", async () => {
    await until(async () => {
      const { groups } = (await api("rules")) as { groups: { rules: { health: string; state: string }[] }[] };
      const rules = groups.flatMap((group) => group.rules);
      return rules.length > 10 && rules.every(({ health, state }) => health === "ok" && state === "inactive");
    }, "rules without errors");
  });

  async function api(path: string): Promise<unknown> {
    const { data } = (await (await fetch(`${prometheus}/api/v1/${path}`)).json()) as { data: unknown };
    return data;
  }

  const ask = async (query: string) =>
    ((await api(`query?query=${encodeURIComponent(query)}`)) as { result: { value: [number, string] }[] })
      .result;
});

/** Starts Prometheus with the files of the repository, except the target and shorter intervals. */
async function startPrometheus(target: string): Promise<string> {
  const folder = temporaryFolder();
  const config = readFileSync(deployed("prometheus.yml"), "utf8")
    .replace("127.0.0.1:8787", target)
    .replaceAll("interval: 15s", "interval: 1s");
  writeFileSync(join(folder, "prometheus.yml"), config);
  copyFileSync(deployed(alertsFile), join(folder, alertsFile));
  const address = `127.0.0.1:${await freePort()}`;
  const files = [`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/data`];
  const child = spawn("prometheus", [...files, `--web.listen-address=${address}`], { stdio: "ignore" });
  child.unref();
  process.on("exit", () => child.kill("SIGKILL"));
  const failed = once(child, "exit").then(() => {
    throw new Error("Prometheus ended");
  });
  const isReady = async () => (await fetch(`http://${address}/-/ready`).catch(() => undefined))?.ok === true;
  await Promise.race([until(isReady, "Prometheus"), failed]);
  failed.catch(() => undefined);
  return `http://${address}`;
}

const waitMs = 60_000;

async function until(holds: () => Promise<boolean>, what: string): Promise<void> {
  const startedMs = performance.now();
  while (!(await holds())) {
    if (performance.now() - startedMs > waitMs) throw new Error(`no ${what} after ${waitMs / 1000} s`);
    await pause(100);
  }
}
