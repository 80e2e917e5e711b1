// Faults under load: nothing that was acknowledged is lost, there twice or back again, on any server; clients
// get 503 with Retry-After at most; service returns without a restart; /health names the part that is away.
//
// `npm run test:cluster` runs this and prints the table of docs/scale.md.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import {
  adminKey,
  type Installation,
  type Part,
  type ServerProcess,
  startInstallation,
} from "../support/installation.ts";
import { endLeftProcesses } from "../support/process.ts";
import { type Kind, kinds, WriteChecker } from "../support/write-checker.ts";

const skip = process.env["TEST_FAULTS"] === "on" ? false : "runs in npm run test:cluster";

/** The longest time until the service is back by itself, on a busy machine. */
const backMsMax = 90_000;
const faketime = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";

interface Fault {
  readonly name: string;
  readonly begin?: () => unknown;
  readonly end?: () => unknown;
  readonly seconds: number;
  /** Matches the response of /health of a server meanwhile. */
  readonly health?: RegExp;
  /** Replicas that stay away after the fault. */
  readonly staysAway?: true;
  /** HAProxy may close a connection that a client uses again, instead of a response from a dead server. */
  readonly mayClose?: true;
  /**
   * The kinds of requests that are served during the fault. It lasts until they were, and `health` matched.
   */
  readonly serves?: readonly Kind[];
}

describe("faults under load", { skip }, () => {
  let all: Installation;
  const rows: string[] = [];

  before(async () => {
    all = await startInstallation();
  });
  after(async () => {
    const head = ["Fault", "s", ...kinds, "Refused", "Acknowledged"];
    console.log([`| ${head.join(" | ")} |`, `|${head.map(() => "---|").join("")}`, ...rows].join("\n"));
    await all?.remove();
    endLeftProcesses();
  });

  const healthOf = async ({ baseUrl }: ServerProcess) => {
    try {
      const response = await fetch(`${baseUrl}/health`, { signal: AbortSignal.timeout(10_000) });
      return { isOk: response.status === 200, text: await response.text() };
    } catch {
      return { isOk: false, text: "no response" };
    }
  };

  async function untilBack(isWhole: boolean): Promise<void> {
    const endMs = performance.now() + backMsMax;
    for (;;) {
      const states = await Promise.all(all.servers.map(healthOf));
      const isBack = states.every(({ isOk, text }) => isOk && !(isWhole && text.includes('"away"')));
      if (isBack) return;
      assert.ok(performance.now() < endMs, `not back: ${states.map(({ text }) => text).join("\n")}`);
      await pause(200);
    }
  }

  async function underFault({ name, begin, end, seconds, health, serves = [], ...more }: Fault) {
    const { staysAway = false, mayClose = false } = more;
    await untilBack(false);
    const checker = new WriteChecker({ baseUrl: all.haproxy.baseUrl, key: adminKey }, name);
    await checker.start();
    await pause(3_000);
    const said = new Set<string>();
    const watching = new AbortController();
    const watch = all.servers.map(async (server) => {
      while (!watching.signal.aborted) {
        said.add((await healthOf(server)).text);
        await pause(300);
      }
    });
    const beginMs = performance.now();
    await begin?.();
    await pause(seconds * 1000);
    const isDone = () =>
      (health?.test([...said].join("\n")) ?? true) &&
      serves.every((kind) => checker.servedSince(kind, beginMs));
    for (const endMs = beginMs + backMsMax; !isDone() && performance.now() < endMs; ) await pause(100);
    const lasted = Math.round((performance.now() - beginMs) / 1000);
    const served = serves.filter((kind) => checker.servedSince(kind, beginMs));
    await end?.();
    await untilBack(!staysAway);
    await pause(3_000);
    watching.abort();
    await Promise.all(watch);
    const longest = checker.interruptions(beginMs, performance.now());
    await checker.stop();
    const cells = kinds.map((kind) => longest[kind].toFixed(1));
    const closed = checker.violations.filter((one) => mayClose && /other side closed/.test(one));
    const refused = Object.values(checker.refusals).reduce((sum, count) => sum + count, 0);
    const acknowledged = Object.entries(checker.acknowledged).map(([what, count]) => `${count} ${what}`);
    rows.push(`| ${[name, lasted, ...cells, refused, acknowledged.join(", ")].join(" | ")} |`);
    console.log(rows.at(-1));
    const findings = await Promise.all(all.servers.map(({ baseUrl }) => checker.findings(baseUrl)));
    assert.deepEqual(findings.flat(), [], "lost, twice or back again");
    const faults = all.servers.flatMap((server) => server.faults()).slice(0, 5);
    assert.deepEqual(
      checker.violations,
      closed,
      `other responses than 200 and a clear 503\n${faults.join("\n")}`,
    );
    if (health) assert.match([...said].join("\n"), health);
    assert.deepEqual(served, serves, "kinds that are served during the fault");
  }

  test("kill -9 of one of two servers", async () => {
    const [server] = all.servers;
    await underFault({
      name: "kill -9 of one of two servers",
      begin: () => server!.end("SIGKILL"),
      end: () => server!.start(),
      seconds: 10,
      mayClose: true,
    });
  });

  test("kill -9 of one of three replicas of ClickHouse", async () => {
    const [replica] = all.clickHouses;
    await underFault({
      name: "kill -9 of one of three replicas of ClickHouse",
      begin: () => replica!.kill(),
      end: () => replica!.start(),
      seconds: 15,
      health: /"status":"ok".*"away":\["replica 1 of 3 of ClickHouse: ECONN/,
      serves: ["records written", "records read", "files"],
    });
  });

  test("kill -9 of two of three replicas: writes need the quorum", async () => {
    const gone = all.clickHouses.slice(0, 2);
    await underFault({
      name: "kill -9 of two of three replicas of ClickHouse",
      begin: () => Promise.all(gone.map((replica) => replica.kill())),
      end: () => Promise.all(gone.map((replica) => replica.start())),
      seconds: 15,
      health: /ClickHouse, which stores the datapoints, is not available|datapoint store does not respond/,
      serves: ["records written", "records read", "files"],
    });
  });

  test("kill -9 of the leader of ZooKeeper", async () => {
    const roles = await Promise.all(all.zooKeepers.map((one) => one.role()));
    const leader = all.zooKeepers[roles.indexOf("leader")]!;
    await underFault({
      name: "kill -9 of the leader of three ZooKeeper",
      begin: () => leader.kill(),
      end: () => leader.start(),
      seconds: 15,
      serves: ["records written", "records read", "files"],
    });
  });

  test("the disk of one replica of ClickHouse is full", async () => {
    await underFault({
      name: "disk full on one of three replicas of ClickHouse",
      begin: () => all.smallDisk.fill(),
      end: () => all.smallDisk.free(),
      seconds: 20,
      health: /"away":\["replica 1 of 3 of ClickHouse: its disk is full/,
      serves: ["records written", "records read", "files"],
    });
  });

  test("the S3 store is away", async () => {
    const network = (mode: "refuse" | "pass") => () => {
      for (const server of all.servers) server.network("S3", mode);
    };
    await underFault({
      name: "the S3 store away",
      begin: network("refuse"),
      end: network("pass"),
      seconds: 10,
      health: /The store of files is not available/,
      serves: ["points written", "points read", "records written", "records read"],
    });
  });

  const named: Readonly<Record<Part, RegExp>> = {
    PostgreSQL: /catalog/,
    ClickHouse: /ClickHouse|datapoint store/,
    S3: /store of files/,
  };
  for (const part of ["PostgreSQL", "ClickHouse", "S3"] as const)
    test(`the network between one of two servers and ${part} is cut`, async () => {
      const [server] = all.servers;
      await underFault({
        name: `network cut between one of two servers and ${part}`,
        begin: () => server!.network(part, "hold"),
        end: () => server!.network(part, "pass"),
        seconds: 20,
        health: named[part],
      });
    });

  for (const hours of [1, -1])
    test(`the clock of one server is ${hours} h off`, async () => {
      const [, server] = all.servers;
      await server!.end("SIGTERM");
      await server!.start({
        ...{
          LD_PRELOAD: faketime,
          FAKETIME: `${hours > 0 ? "+" : ""}${hours}h`,
          FAKETIME_DONT_FAKE_MONOTONIC: "1",
        },
      });
      const shown = Date.parse((await fetch(`${server!.baseUrl}/health/live`)).headers.get("date")!);
      assert.ok(Math.abs(shown - Date.now() - hours * 3_600_000) < 60_000, "the server has another time");
      await underFault({
        name: `clock of one of two servers ${hours > 0 ? "an hour fast" : "an hour slow"}`,
        seconds: 10,
        serves: kinds,
      });
      await server!.end("SIGTERM");
      await server!.start();
    });

  test("kill -9 of the PostgreSQL primary, and promotion of the standby", async () => {
    await underFault({
      name: "kill -9 of the PostgreSQL primary, promotion of the standby after 3 s",
      begin: async () => {
        all.primary.stop("immediate");
        await pause(3_000);
        all.standby.promote();
      },
      seconds: 10,
      health: /catalog's database does not respond/,
      staysAway: true,
    });
  });
});
