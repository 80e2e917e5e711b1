// An MQTT broker for tests: Debian's mosquitto on a free port, which keeps sessions on its disk.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { connectAsync, type MqttClient } from "mqtt";
import { temporaryFolder } from "./folder.ts";
import { freePort } from "./free-port.ts";

export interface Broker {
  readonly url: string;
  client(): Promise<MqttClient>;
  /** Ends it in order, so that it saves its sessions. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** The bytes of the saved sessions, as text, while it is stopped. */
  savedTopics(): string;
}

export async function startMosquitto(): Promise<Broker> {
  const port = await freePort();
  const folder = temporaryFolder();
  const file = join(folder, "mosquitto.conf");
  const lines = [
    `listener ${port} 127.0.0.1`,
    "allow_anonymous true",
    "max_queued_messages 0",
    "max_inflight_messages 0",
    "persistence true",
    `persistence_location ${folder}/`,
    ...(process.getuid?.() === 0 ? ["user root"] : []),
  ];
  writeFileSync(file, `${lines.join("\n")}\n`);
  const url = `mqtt://127.0.0.1:${port}`;
  let child: ChildProcess | undefined;
  const broker: Broker = {
    url,
    client: () => connectAsync(url, { reconnectPeriod: 100 }),
    async start() {
      child = spawn("mosquitto", ["-c", file], { stdio: "ignore" });
      for (;;) {
        try {
          await (await connectAsync(url, { reconnectPeriod: 0 }, false)).endAsync();
          return;
        } catch {
          await pause(50);
        }
      }
    },
    savedTopics: () => readFileSync(join(folder, "mosquitto.db"), "latin1"),
    async stop() {
      if (!child) return;
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
      child = undefined;
    },
  };
  process.once("exit", () => child?.kill("SIGKILL"));
  await broker.start();
  return broker;
}
