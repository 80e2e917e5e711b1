// Millrace with its datapoints in a ClickHouse server of its own.
import { mkdirSync } from "node:fs";
import { execute, startClickHouse } from "./clickhouse.ts";
import { millrace, startMillrace } from "./millrace.ts";
import type { System } from "./system.ts";

export const millraceOnClickHouse: System = {
  ...millrace,
  name: "Millrace on ClickHouse",
  durability:
    "confirmed by ClickHouse, in the page cache, no fsync; W4 and W5 repeat one read, which it caches",
  isDurable: false,
  async start(folder) {
    mkdirSync(`${folder}/clickhouse`);
    const store = await startClickHouse(`${folder}/clickhouse`);
    await execute(store.port, "CREATE DATABASE plant");
    const running = await startMillrace(folder, {
      MILLRACE_POINTS: `clickhouse://127.0.0.1:${store.port}/plant`,
    });
    running.started.child.once("exit", () => store.started.child.kill("SIGKILL"));
    return running;
  },
};
