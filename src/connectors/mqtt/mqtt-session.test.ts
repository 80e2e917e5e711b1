// The beginning and the end of connections, with a broker that this test writes packet by packet.
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { MqttClient } from "mqtt";
import { until } from "../../../test/support/connector.ts";
import { runSession, type SessionOptions } from "./mqtt-session.ts";

const connack = Buffer.from("20020000", "hex");
const suback = (subscribe: Buffer) => Buffer.from([0x90, 3, subscribe[2]!, subscribe[3]!, 1]);
/** A message of the topic "t" with QoS 1 and an empty payload. */
const publish = (id: number) => Buffer.from([0x32, 5, 0, 1, 0x74, 0, id]);
const puback = (id: number) => `400200${id.toString(16).padStart(2, "0")}`;
const disconnect = "e000";

async function brokerOf(t: TestContext, onSocket: (socket: Socket) => void): Promise<string> {
  const sockets: Socket[] = [];
  const broker = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    onSocket(socket);
  });
  broker.listen(0, "127.0.0.1");
  await once(broker, "listening");
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    broker.close();
  });
  return `mqtt://127.0.0.1:${(broker.address() as AddressInfo).port}`;
}

const optionsOf = (url: string, more: Partial<SessionOptions>): SessionOptions => ({
  url,
  client: { keepalive: 30, reconnectPeriod: 1, clean: false, clientId: "c", protocolVersion: 4 },
  ...{ topics: ["t"], formerTopics: [], qos: 1 },
  ...{ onMessages: async () => {}, onConnected: () => {}, onProblem: () => {} },
  ...more,
});

/** Accepts the connection and the subscription, and reads nothing afterwards. */
function acceptAndPause(socket: Socket, onPaused = () => {}): void {
  socket.once("data", () => {
    socket.write(connack);
    socket.once("data", (subscribe: Buffer) => {
      socket.write(suback(subscribe));
      socket.pause();
      onPaused();
    });
  });
}

test("a session ends while a broker that took the connection says nothing", async (t) => {
  const accepted = Promise.withResolvers<Socket>();
  const url = await brokerOf(t, (socket) => accepted.resolve(socket));
  const stop = new AbortController();
  const session = runSession(optionsOf(url, {}), stop.signal);
  const socket = await accepted.promise;
  await once(socket, "data");
  stop.abort();
  // Without an end the library connects again, and the process never ends.
  await Promise.all([session, once(socket, "close")]);
});

test("messages that the library hands over after their connection ended are not acknowledged", async (t) => {
  const received: string[] = [];
  const sockets: Socket[] = [];
  const url = await brokerOf(t, (socket) => {
    const at = sockets.push(socket) - 1;
    received.push("");
    socket.once("data", () => {
      socket.write(connack);
      socket.once("data", (subscribe: Buffer) => {
        socket.on("data", (bytes: Buffer) => {
          received[at] += bytes.toString("hex");
          if (received[at]!.endsWith(disconnect)) socket.end();
        });
        socket.write(suback(subscribe));
      });
    });
  });
  const stop = new AbortController();
  const disk = Promise.withResolvers<void>();
  const stored: number[] = [];
  let connected = 0;
  const session = runSession(
    optionsOf(url, {
      onMessages: async (messages) => {
        await disk.promise;
        stored.push(...messages.map(({ packet }) => packet.messageId!));
      },
      onConnected: (client) => {
        connected += 1;
        if (connected > 1) return;
        // The connection breaks while two messages of its last chunk are not read yet.
        client.on("packetreceive", (packet) => {
          if (packet.cmd === "publish" && packet.messageId === 1) client.stream.destroy();
        });
        sockets[0]!.write(Buffer.concat([publish(1), publish(2), publish(3)]));
      },
    }),
    stop.signal,
  );
  await until(() => connected === 2, "the second connection");
  disk.resolve();
  await until(() => stored.length === 3, "the messages on disk");
  stop.abort();
  await session;
  assert.deepEqual(stored, [1, 2, 3]);
  // The second session of the broker has never sent these messages.
  assert.deepEqual(received, ["", disconnect]);
});

test("a stop sends the last acknowledgements through a slow network", async (t) => {
  const probes = Buffer.alloc(16 * 2 ** 20, Buffer.from([0xc0, 0]));
  let received = Buffer.alloc(0);
  const opened = Promise.withResolvers<Socket>();
  const url = await brokerOf(t, (socket) => {
    acceptAndPause(socket, () => opened.resolve(socket));
  });
  const stop = new AbortController();
  const [connected, taken, disk] = [
    Promise.withResolvers<MqttClient>(),
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
  ];
  const session = runSession(
    optionsOf(url, {
      onMessages: () => {
        taken.resolve();
        return disk.promise;
      },
      onConnected: connected.resolve,
    }),
    stop.signal,
  );
  const socket = await opened.promise;
  (await connected.promise).stream.write(probes);
  socket.write(Buffer.concat([publish(7), publish(8)]));
  await taken.promise;
  stop.abort();
  disk.resolve();
  await pause(50);
  // The broker closes the connection when it reads that the client disconnects.
  socket.on("data", (bytes: Buffer) => {
    received = Buffer.concat([received.subarray(-32), bytes]);
    if (received.toString("hex").endsWith(disconnect)) socket.end();
  });
  socket.resume();
  await Promise.all([session, once(socket, "close")]);
  assert.ok(received.toString("hex").endsWith(`c000${puback(7)}${puback(8)}${disconnect}`));
});

test("a stop does not wait for a broker that does not respond", async (t) => {
  const url = await brokerOf(t, (socket) => {
    // Keeps its side of the connection open.
    acceptAndPause(socket);
  });
  const stop = new AbortController();
  const connected = Promise.withResolvers<MqttClient>();
  const session = runSession(optionsOf(url, { onConnected: connected.resolve }), stop.signal);
  const { stream } = await connected.promise;
  stop.abort();
  await session;
  assert.ok(stream.destroyed);
});
