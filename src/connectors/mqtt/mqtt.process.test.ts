// `millrace connect` between a real broker and a real server: what was acknowledged arrives, once, also when
// the connector, the server or the broker ends in between.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { ConnectedServer, connect, connectWithin, stopped, until } from "../../../test/support/connector.ts";
import { cuttableProxy } from "../../../test/support/cuttable-proxy.ts";
import { type Broker, startMosquitto } from "../../../test/support/mosquitto.ts";
import { needs } from "../../../test/support/needs.ts";
import { endLeftProcesses } from "../../../test/support/process.ts";

type Json = Readonly<Record<string, unknown>>;

describe("MQTT", needs("mosquitto"), () => {
  let broker: Broker;
  const server = new ConnectedServer();
  before(async () => {
    broker = await startMosquitto();
    await server.start();
  });
  after(async () => {
    endLeftProcesses();
    await broker.stop();
  });

  const configured = (name: string, read: readonly Json[], more: { source?: Json; buffer?: Json } = {}) =>
    server.configured(name, { type: "mqtt", url: broker.url, read, ...more.source }, more.buffer);

  test("values, JSON and strings arrive with units, and what cannot be read is counted", async () => {
    const file = configured("first", [
      { topic: "hall/+/temperature", format: "value", series: "{2}.temperature", unit: "degC" },
      { topic: "hall/+/state", format: "value", series: "{2}.state", isString: true },
      {
        ...{ topic: "json/#", format: "json" },
        map: `[values.{"series": $levels[1] & "." & name, "value": v, "timestamp": t},
          {"event": {"sourceId": id, "type": "report", "startTime": 5000}},
          {"row": {"database": "mqtt", "table": "reports", "key": id, "columns": {"n": $count(values)}}}]`,
      },
    ]);
    const connector = connect(file);
    const publisher = await broker.client();
    await until(() => connector.output().includes("Subscribed"), "the start");
    await publisher.publishAsync("hall/pump/temperature", " 21.5 ", { qos: 1 });
    await publisher.publishAsync("hall/pump/temperature/else", "1", { qos: 1 });
    await publisher.publishAsync("hall/pump/state", "läuft", { qos: 0 });
    await publisher.publishAsync("hall/pump/temperature", "warm", { qos: 1 });
    const values = [
      { name: "a", v: 1.5, t: 1_000 },
      { name: "b", v: true, t: "1970-01-01T00:00:02Z" },
    ];
    await publisher.publishAsync("json/x", JSON.stringify({ id: "r1", values }), { qos: 1 });
    await publisher.publishAsync("json/x", "{", { qos: 1 });
    // The connector sends numbers, strings, events and rows of one commit in this order.
    await until(async () => (await server.items("GET", "events?type=report")).length === 1, "the event");
    await until(async () => (await server.countOf("first/x.b")) === 1, "the last value");
    await until(async () => (await server.countOf("first/pump.temperature")) === 1, "the first value");
    const [series] = await server.items("GET", "timeseries?name=first/pump.temperature");
    assert.equal(series!["unit"], "degC");
    const items = ["first/pump.temperature", "first/pump.state", "first/x.a", "first/x.b"];
    const latest = await server.items("POST", "timeseries/latest", {
      items: items.map((name) => ({ name })),
    });
    const points = latest.map(
      ({ datapoints }) => (datapoints as { timestamp: number; value: unknown }[])[0]!,
    );
    assert.deepEqual(
      points.map(({ value }) => value),
      [21.5, "läuft", 1.5, 1],
    );
    assert.deepEqual([points[2]!.timestamp, points[3]!.timestamp], [1_000, 2_000]);
    assert.deepEqual((await server.items("GET", "events?type=report"))[0]!["source"], "first");
    const output = await stopped(connector);
    assert.match(output, /"warm" is no number/);
    await publisher.endAsync();
  });

  test("of messages of QoS 0 and 1 that arrive together the last one counts", async () => {
    const map = '{"series": s, "value": n, "timestamp": 1000}';
    const connector = connect(configured("order", [{ topic: "order", format: "json", map }]));
    const publisher = await broker.client();
    await until(() => connector.output().includes("Subscribed"), "the start");
    const names = Array.from({ length: 40 }, (_, at) => `s${at}`);
    const published = names.flatMap((s, at) =>
      [1, 2].map((n) => {
        const qos = (at + n) % 2 === 0 ? 0 : 1;
        return publisher.publishAsync("order", JSON.stringify({ s, n }), { qos });
      }),
    );
    await Promise.all(published);
    for (const name of names)
      await until(async () => (await server.countOf(`order/${name}`)) === 1, `the point of ${name}`);
    await stopped(connector);
    const items = names.map((name) => ({ name: `order/${name}` }));
    const latest = await server.items("POST", "timeseries/latest", { items });
    const values = latest.map(({ datapoints }) => (datapoints as { value: number }[])[0]!.value);
    assert.deepEqual(values, Array(names.length).fill(2));
    await publisher.endAsync();
  });

  test("nothing acknowledged is lost when connector, server and broker end in between", async () => {
    const map = '[{"series": $levels[1], "value": n, "timestamp": t}]';
    const file = configured("lasting", [{ topic: "load/+", format: "json", map }]);
    let connector = connect(file);
    await until(() => connector.output().includes("Subscribed"), "the start");
    const publisher = await broker.client();
    const perRound = 400;
    let sent = 0;
    const publish = async () => {
      const messages = Array.from({ length: perRound }, () => {
        const time = 1_600_000_000_000 + sent++;
        return publisher.publishAsync("load/s", JSON.stringify({ n: time % 1_000, t: time }), { qos: 1 });
      });
      await Promise.all(messages);
    };
    await publish();
    for (const _ of [1, 2]) {
      const publishing = publish();
      await pause(40);
      connector.child.kill("SIGKILL");
      await connector.ended;
      await publishing;
      connector = connect(file);
    }
    await server.kill();
    await publish();
    await until(() => /server: /.test(connector.output()), "the problem with the server");
    await server.start();
    await publish();
    await broker.stop();
    await broker.start();
    await until(() => publisher.connected, "the publisher's return");
    await publish();
    await until(async () => (await server.countOf("lasting/s")) === sent, `all ${sent} points`);
    const output = await stopped(connector);
    assert.match(output, /server: works again/);
    await publisher.endAsync();
  });

  test("a full buffer drops the oldest points, and the server has an event that says so", async () => {
    const map = '{"series": "s", "value": n, "timestamp": n}';
    const file = configured("small", [{ topic: "small", format: "json", map }], {
      buffer: { bytes: "2KiB" },
    });
    await server.kill();
    const connector = connect(file);
    await until(() => connector.output().includes("Subscribed"), "the start");
    const publisher = await broker.client();
    for (let n = 1; n <= 300; n += 1)
      await publisher.publishAsync("small", JSON.stringify({ n }), { qos: 1 });
    await pause(500);
    await server.start();
    const dropped = async () =>
      (await server.items("GET", "events?type=connector")).reduce(
        (sum, { metadata }) => sum + Number((metadata as Json)["records"]),
        0,
      );
    // How many the connector had when the server came back depends on the machine; none is uncounted.
    await until(async () => (await dropped()) > 0, "the event");
    await until(async () => (await server.countOf("small/s")) + (await dropped()) === 300, "all 300");
    assert.ok((await server.countOf("small/s")) > 0, "the newest points are written");
    await stopped(connector);
    await publisher.endAsync();
  });

  test("a network that is half open, to the broker and then to the server, loses nothing", async (test) => {
    const toBroker = await cuttableProxy(Number(new URL(broker.url).port));
    const toServer = await cuttableProxy(Number(new URL(server.baseUrl).port));
    const publisher = await broker.client();
    test.after(async () => {
      toBroker.close();
      toServer.close();
      await publisher.endAsync(true);
    });
    const map = '{"series": "s", "value": n, "timestamp": n}';
    const file = configured("half", [{ topic: "half", format: "json", map }], {
      source: { url: `mqtt://127.0.0.1:${toBroker.port}`, keepAlive: "1s" },
    });
    const given = JSON.parse(readFileSync(file, "utf8")) as { destination: Json };
    given.destination = { ...given.destination, server: `http://127.0.0.1:${toServer.port}`, timeout: "2s" };
    writeFileSync(file, JSON.stringify(given));
    const connector = connect(file);
    let sent = 0;
    const publish = async () => {
      for (const endAt = sent + 50; sent < endAt; )
        await publisher.publishAsync("half", JSON.stringify({ n: ++sent }), { qos: 1 });
    };
    const arrived = () => until(async () => (await server.countOf("half/s")) === sent, `all ${sent} points`);
    await until(() => connector.output().includes("Subscribed"), "the start");
    await publish();
    await arrived();
    const problems = () => connector.output().match(/source: (?!Subscribed|works again)/g)?.length ?? 0;
    const before = problems();
    toBroker.become("half-open");
    await publish();
    await until(() => problems() > before, "the silent broker");
    toBroker.become("open");
    await arrived();
    toServer.become("half-open");
    await publish();
    await until(() => /server: .* does not respond/.test(connector.output()), "the silent server");
    toServer.become("open");
    await arrived();
    await until(() => connector.output().includes("server: works again"), "the health of the server");
    await stopped(connector);
    const [report] = await server.items("GET", "connectors?name=half");
    assert.deepEqual(report!["counts"], { received: sent, written: sent, refused: 0, dropped: 0 });
  });

  test("check, print and a dry run say what they find, and write nothing", async () => {
    const read = [{ topic: "dry/+", format: "value", series: "{-1}" }];
    const file = configured("dry", read, { source: { username: "u", password: "secret" } });
    const ended = async (...words: string[]) => await connect(file, ...words).ended;
    const check = await ended("check");
    assert.match(check.output, /^ok +source: mqtt:.*\nok +server: .* has the project default/);
    assert.equal(check.status, 0);
    const print = (await ended("print")).output;
    assert.ok(print.includes("key: $") && !print.includes("secret"), print);
    const dry = connect(file, "--dry-run");
    const publisher = await broker.client();
    await until(async () => {
      await publisher.publishAsync("dry/x", "5", { qos: 1 });
      return dry.output().includes("point ");
    }, "a point");
    assert.match(await stopped(dry), /point {2}\S+ {2}dry\/x {2}5\n[\s\S]*nothing written/);
    assert.equal(await server.countOf("dry/x"), 0);
    await publisher.endAsync();
  });

  test("two connectors with the same topics read all messages; check and a dry run take none", async () => {
    const map = '{"series": "s", "value": n, "timestamp": n}';
    const read = [{ topic: "shared", format: "json", map }];
    const files = [configured("one", read), configured("other", read)];
    let connectors = files.map((file) => connect(file));
    const subscribed = () => connectors.every((one) => one.output().includes("Subscribed"));
    await until(subscribed, "the start");
    await Promise.all(connectors.map(stopped));
    const publisher = await broker.client();
    const publish = async (from: number, to: number) => {
      for (let n = from; n <= to; n += 1)
        await publisher.publishAsync("shared", JSON.stringify({ n }), { qos: 1 });
    };
    await publish(1, 50);
    assert.equal((await connect(files[0]!, "check").ended).status, 0);
    const dry = connect(files[0]!, "--dry-run");
    await until(() => dry.output().includes("Subscribed"), "the start of the dry run");
    await publish(51, 52);
    await until(() => dry.output().includes("point "), "a point of the dry run");
    await stopped(dry);
    connectors = files.map((file) => connect(file));
    await until(subscribed, "the second start");
    await publish(53, 100);
    for (const name of ["one/s", "other/s"])
      await until(async () => (await server.countOf(name)) === 100, `all points of ${name}`);
    const outputs = await Promise.all(connectors.map(stopped));
    assert.ok(!outputs.join().includes("connection to the broker was lost"), outputs.join());
    await publisher.endAsync();
  });

  test("a topic that is no longer configured is unsubscribed", async () => {
    const reads = ["left", "kept"].map((topic) => ({ topic, format: "value", series: "{topic}" }));
    const file = configured("fewer", reads);
    let connector = connect(file);
    await until(() => connector.output().includes("Subscribed"), "the start");
    await stopped(connector);
    const given = JSON.parse(readFileSync(file, "utf8")) as { source: { read: unknown[] } };
    given.source.read.shift();
    writeFileSync(file, JSON.stringify(given));
    connector = connect(file);
    await until(() => connector.output().includes("Subscribed"), "the second start");
    await stopped(connector);
    const publisher = await broker.client();
    await publisher.publishAsync("left", "1", { qos: 1 });
    await publisher.publishAsync("kept", "1", { qos: 1 });
    const queued = await publisher.endAsync().then(() => broker.stop().then(() => broker.savedTopics()));
    await broker.start();
    assert.ok(queued.includes("kept") && !queued.includes("left"), "the broker keeps only what is read");
  });

  test("the messages of a shared subscription are written, also after a restart of the broker", async () => {
    const read = [{ topic: "$share/hall/shared/+", format: "value", series: "{topic}" }];
    const connector = connect(configured("part", read));
    const publisher = await broker.client();
    const subscribed = () => connector.output().match(/Subscribed/g)?.length ?? 0;
    await until(() => subscribed() === 1, "the start");
    await publisher.publishAsync("shared/a", "1", { qos: 1 });
    await until(async () => (await server.countOf("part/shared/a")) === 1, "the first message");
    await broker.stop();
    await broker.start();
    await until(() => publisher.connected && subscribed() === 2, "the second connection");
    await publisher.publishAsync("shared/b", "2", { qos: 1 });
    await until(async () => (await server.countOf("part/shared/b")) === 1, "the second message");
    await stopped(connector);
    await publisher.endAsync();
  });

  test("the death of a Sparkplug host has the time of its birth, on each connection", async () => {
    const states: { online: boolean; timestamp: number }[] = [];
    const watcher = await broker.client();
    watcher.on("message", (_, payload) => states.push(JSON.parse(payload.toString())));
    await watcher.subscribeAsync("spBv1.0/STATE/plant");
    const read = [{ topic: "spBv1.0/#", format: "sparkplug" }];
    const file = configured("host", read, { source: { sparkplugHost: "plant" } });
    for (const signal of ["SIGKILL", "SIGTERM"] as const) {
      const connector = connect(file);
      await until(() => states.at(-1)?.online === true, "the birth");
      connector.child.kill(signal);
      await until(() => states.at(-1)?.online === false, "the death");
      await connector.ended;
    }
    const [birth, death, secondBirth, secondDeath] = states;
    assert.deepEqual([birth!.timestamp, secondBirth!.timestamp], [death!.timestamp, secondDeath!.timestamp]);
    assert.ok(secondBirth!.timestamp > birth!.timestamp);
    await watcher.endAsync();
  });

  test("a stop while the disk is full ends in order, and the broker keeps the messages", async () => {
    const map = '["s", "t"].{"series": $, "value": $ = "s" ? $$.n : $$.text, "timestamp": $$.n}';
    const file = configured("disk", [{ topic: "disk", format: "json", map }]);
    const folder = join(dirname(file), "disk.buffer");
    mkdirSync(folder);
    await server.kill();
    // Blocks of 512 bytes: files of the connector may have 400 kB.
    const within = ["sh", "-c", `trap "" XFSZ; ulimit -f 800; exec "$@"`, "sh"];
    let connector = connectWithin(within, file);
    await until(() => connector.output().includes("Subscribed"), connector.errors());
    const publisher = await broker.client();
    const text = "x".repeat(500);
    const count = 3_000;
    for (let n = 1; n <= count; n += 1)
      void publisher.publishAsync("disk", JSON.stringify({ n, text: text + n }), { qos: 1 });
    await until(() => /disk: The buffer cannot be written/.test(connector.output()), "the full disk");
    assert.match(await stopped(connector), /Stopped/);
    assert.equal((await connector.ended).errors, "");
    await server.start();
    connector = connect(file);
    await until(async () => (await server.countOf("disk/s")) === count, "all points");
    await stopped(connector);
    const [report] = await server.items("GET", "connectors?name=disk");
    assert.equal((report!["counts"] as Json)["dropped"], 0);
    await publisher.endAsync();
  });

  test("what is wrong in a configuration is refused with its place", async () => {
    const good = { topic: "t", format: "value", series: "s" };
    const refusals: readonly (readonly [read: Json, more: Json, message: RegExp])[] = [
      [{ ...good, serie: "s" }, {}, /source\.read\.0 has unknown keys: serie/],
      [{ ...good, format: "xml" }, {}, /source\.read\.0\.format must be one of value, json, sparkplug\n$/],
      [{ topik: "t", format: "value", series: "s" }, {}, /properties topic\n.*has unknown keys: topik\n$/],
      [{ topic: "t", format: "json", map: "[" }, {}, /not valid JSONata/],
      [good, { port: 5 }, /source has unknown keys: port/],
      [good, { url: "http://broker" }, /source\.url/],
      [good, { type: "mqqt" }, /source\.type must be one of .*\bmqtt\b/],
    ];
    for (const [read, source, message] of refusals) {
      const { status, output } = await connect(configured("bad", [read], { source }), "check").ended;
      assert.deepEqual([status, message.test(output)], [2, true], output);
    }
    const small = configured("bad", [good], { buffer: { bytes: "1GB" } });
    assert.match((await connect(small).ended).output, /buffer\.bytes is a number with one of B, KiB/);
  });
});
