// The end of a session whose connection is not made yet.
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { runSession } from "./mqtt-session.ts";

test("a session ends while a broker that took the connection says nothing", async (t) => {
  const sockets: Socket[] = [];
  const broker = createServer((socket) => sockets.push(socket));
  broker.listen(0, "127.0.0.1");
  await once(broker, "listening");
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    broker.close();
  });
  const stop = new AbortController();
  const session = runSession(
    {
      url: `mqtt://127.0.0.1:${(broker.address() as AddressInfo).port}`,
      client: { keepalive: 1, reconnectPeriod: 1 },
      ...{ topics: ["t"], formerTopics: [], qos: 1 },
      ...{ onMessages: async () => {}, onConnected: () => {}, onProblem: () => {} },
    },
    stop.signal,
  );
  const [socket] = (await once(broker, "connection")) as [Socket];
  await once(socket, "data");
  stop.abort();
  // Without an end the library connects again, and the process never ends.
  await Promise.all([session, once(socket, "close")]);
});
