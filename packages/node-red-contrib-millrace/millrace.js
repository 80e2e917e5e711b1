// The nodes of Millrace for Node-RED: a server, and writing, reading and events.

const { MillraceClient } = require("./client.js");

/** Points that wait in a write node while the server is away. Further messages are refused. */
const waitingMax = 100_000;
/** Points of one request. */
const requestMax = 10_000;

module.exports = (RED) => {
  function MillraceServer(config) {
    RED.nodes.createNode(this, config);
    const { address, project } = config;
    this.client = new MillraceClient({ address, project, key: this.credentials?.key ?? "" });
  }
  RED.nodes.registerType("millrace-server", MillraceServer, { credentials: { key: { type: "password" } } });

  const clientOf = (node, config) => {
    const server = RED.nodes.getNode(config.server);
    if (!server) node.status({ fill: "red", shape: "ring", text: "no server" });
    return server?.client;
  };

  function MillraceWrite(config) {
    RED.nodes.createNode(this, config);
    const client = clientOf(this, config);
    if (!client) return;
    const queue = new WriteQueue(this, client, config.create === true);
    this.on("input", (message, _send, done) => queue.add(message, config, done));
    this.on("close", (done) => queue.close().then(done, done));
  }
  RED.nodes.registerType("millrace-write", MillraceWrite);

  function MillraceRead(config) {
    RED.nodes.createNode(this, config);
    const client = clientOf(this, config);
    if (!client) return;
    this.on("input", (message, send, done) =>
      answer(this, { message, send, done }, () => read(client, { ...config, ...readOptions(message) })),
    );
  }
  RED.nodes.registerType("millrace-read", MillraceRead);

  function MillraceEvents(config) {
    RED.nodes.createNode(this, config);
    const client = clientOf(this, config);
    if (!client) return;
    const stop = new AbortController();
    const onWait = waitingStatus(this);
    this.on("input", (message, send, done) =>
      answer(this, { message, send, done }, async () => {
        if (config.action === "read") return client.events(message.payload ?? {}, limitOf(message));
        const events = [message.payload].flat();
        await client.createEvents(events, { signal: stop.signal, onWait });
        return message.payload;
      }),
    );
    this.on("close", () => stop.abort());
  }
  RED.nodes.registerType("millrace-events", MillraceEvents);
};

/** Collects points while a request is on its way, and sends them together with the next one. */
class WriteQueue {
  #node;
  #client;
  #create;
  #waiting = [];
  #points = 0;
  #running = Promise.resolve();
  #isRunning = false;
  #stop = new AbortController();

  constructor(node, client, create) {
    this.#node = node;
    this.#client = client;
    this.#create = create;
  }

  /** `done` is called when the server has the points on its disk, or has refused them. */
  add(message, config, done) {
    try {
      const points = pointsIn(message, config);
      if (this.#points + points.length > waitingMax)
        throw new Error(`${this.#points} points wait for the server already; these are not written`);
      this.#waiting.push({ points, done });
      this.#points += points.length;
    } catch (problem) {
      done(problem);
      return;
    }
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#running = this.#run();
  }

  async close() {
    this.#stop.abort();
    await this.#running;
  }

  async #run() {
    while (this.#waiting.length > 0) {
      const batch = this.#takeBatch();
      await this.#write(batch);
      this.#points -= batch.reduce((sum, { points }) => sum + points.length, 0);
    }
    this.#isRunning = false;
  }

  #takeBatch() {
    let [count, size] = [0, 0];
    for (const { points } of this.#waiting) {
      if (count > 0 && size + points.length > requestMax) break;
      count += 1;
      size += points.length;
    }
    return this.#waiting.splice(0, count);
  }

  /** A message that is refused must not take the others of its request with it. */
  async #write(batch) {
    try {
      const points = batch.flatMap((one) => one.points);
      const bySeries = Map.groupBy(points, ({ series }) => series);
      const items = new Map(
        [...bySeries].map(([series, list]) => [series, list.map(({ series: _, ...point }) => point)]),
      );
      const onWait = waitingStatus(this.#node);
      await this.#client.insert(items, { create: this.#create, signal: this.#stop.signal, onWait });
      this.#node.status({});
      for (const { done } of batch) done();
    } catch (problem) {
      if (batch.length > 1 && !this.#stop.signal.aborted) {
        for (const one of batch) await this.#write([one]);
        return;
      }
      for (const { done } of batch) refused(this.#node, done, problem);
    }
  }
}

/** The points of a message: one value, one point, or an array of points. */
function pointsIn(message, config) {
  const { payload } = message;
  const given = Array.isArray(payload) ? payload : [isPoint(payload) ? payload : { value: payload }];
  return given.map((one) => {
    const series = one.series ?? one.name ?? message.series ?? (config.series || message.topic);
    const timestamp = timeIn(one.timestamp ?? message.timestamp ?? Date.now());
    const value = typeof one.value === "boolean" ? Number(one.value) : one.value;
    if (typeof series !== "string" || series === "")
      throw new Error("the series is not named: set it in the node, in msg.series or in msg.topic");
    if (typeof value !== "string" && !Number.isFinite(value))
      throw new Error(`the value of ${series} must be a number, a string or a boolean, not ${show(value)}`);
    return { series, timestamp, value };
  });
}

const isPoint = (payload) => typeof payload === "object" && payload !== null && "value" in payload;

/** ms since 1970 from a number, a Date or ISO 8601. */
function timeIn(given) {
  const time = typeof given === "number" ? given : new Date(given).getTime();
  if (!Number.isInteger(time)) throw new Error(`the timestamp ${show(given)} is not a time`);
  return time;
}

const show = (value) => JSON.stringify(value) ?? String(value);

/** Properties of a message replace those of the node. */
function readOptions(message) {
  const { series, start, end, aggregates, granularity } = message;
  const set = { series, start, end, aggregates, granularity, limit: limitOf(message) };
  return Object.fromEntries(Object.entries(set).filter(([, value]) => value !== undefined));
}

const limitOf = ({ limit }) => (limit === undefined ? undefined : Number(limit));

async function read(client, { series, what, start, end, aggregates, granularity, limit }) {
  if (!series) throw new Error("the series is not named: set it in the node or in msg.series");
  if (what === "latest") return client.latest(series);
  if (what === "aggregates") return client.aggregates(series, { start, end, aggregates, granularity });
  return client.points(series, { start, end, ...(limit && { limit }) });
}

const waitingStatus = (node) => (why) =>
  node.status({ fill: "yellow", shape: "ring", text: `waits: ${why}` });

function refused(node, done, problem) {
  node.status({ fill: "red", shape: "dot", text: problem.message.slice(0, 60) });
  done(problem);
}

/** Sends the message with the result as its payload. */
async function answer(node, { message, send, done }, work) {
  try {
    message.payload = await work();
    node.status({});
    send(message);
    done();
  } catch (problem) {
    refused(node, done, problem);
  }
}
