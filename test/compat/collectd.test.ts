// Debian's collectd, unmodified. None of its plugins sends line protocol over HTTP; write_influxdb_udp sends
// it in datagrams. Instead of Telegraf, the test posts each datagram as it is (docs/influx.md#collectd).
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { temporaryFolder } from "../support/folder.ts";
import { needs } from "../support/needs.ts";
import { startTestServer, type TestServer, withFront } from "../support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer(withFront);
});
after(() => server.close());

/** Runs collectd until `count` datagrams came. */
async function datagramsOfCollectd(count: number): Promise<Buffer[]> {
  const socket: Socket = createSocket("udp4");
  let collectd: ChildProcess | undefined;
  try {
    socket.bind(0, "127.0.0.1");
    await once(socket, "listening");
    const folder = temporaryFolder();
    writeFileSync(`${folder}/collectd.conf`, configuration(folder, socket.address().port));
    collectd = spawn("collectd", ["-f", "-C", `${folder}/collectd.conf`], { stdio: "ignore" });
    const datagrams: Buffer[] = [];
    const signal = AbortSignal.timeout(60_000);
    while (datagrams.length < count) {
      const [bytes] = (await once(socket, "message", { signal })) as [Buffer];
      datagrams.push(bytes);
    }
    return datagrams;
  } finally {
    socket.close();
    if (collectd && collectd.exitCode === null) {
      collectd.kill("SIGKILL");
      await once(collectd, "exit");
    }
  }
}

const configuration = (folder: string, port: number) => `
Hostname "edge"
FQDNLookup false
Interval 1
BaseDir "${folder}"
PIDFile "${folder}/collectd.pid"
TypesDB "/usr/share/collectd/types.db"
LoadPlugin load
LoadPlugin memory
LoadPlugin write_influxdb_udp
<Plugin write_influxdb_udp>
  Server "127.0.0.1" "${port}"
</Plugin>
`;

test("collectd's datagrams are written, and its series are read", needs("collectd"), async () => {
  const fromMs = Date.now() - 60_000;
  const authorization = `Token ${server.key}`;
  for (const body of await datagramsOfCollectd(3)) {
    const address = `${server.baseUrl}/influx/${server.project}/write?precision=ms`;
    const response = await fetch(address, { method: "POST", headers: { authorization }, body });
    assert.equal(response.status, 204, `${await response.text()} ${body.toString("utf8")}`);
  }
  const query = "SELECT count(*) FROM /^(load|memory)/ WHERE host = 'edge' GROUP BY host";
  const read = `/influx/${server.project}/query?epoch=ms&q=${encodeURIComponent(query)}`;
  const response = await fetch(`${server.baseUrl}${read}`, { headers: { authorization } });
  const { results } = (await response.json()) as { results: { series: { name: string }[] }[] };
  assert.ok(results[0]!.series.length > 0, JSON.stringify(results));
  const { items } = await server.ask("GET /timeseries?limit=100");
  const names = items.map(({ name }) => String(name));
  const load = names.find((name) => name.startsWith("load"));
  assert.ok(load, names.join(" "));
  const points = await server.ask(`GET /timeseries/data/${encodeURIComponent(load)}?start=${fromMs}`);
  const stored = points.items[0]!["datapoints"] as { timestamp: number }[];
  assert.ok(stored.length > 0, "the times are milliseconds of now");
});
