// The process of a query: reads the task and the tables from standard input, writes rows to descriptor 3.
import { readSync, writeSync } from "node:fs";
import { parseJson } from "../../lib/json.ts";
import { type EngineMessage, frameOf, headBytes, lengthIn, type QueryTask } from "../frames.ts";
import { problemOf } from "./problems.ts";
import { QueryEngine } from "./query-engine.ts";

const input = 0;
const output = 3;

/** The server, seen from the process. Each call blocks: the process does nothing else. */
const server = {
  send(message: EngineMessage): void {
    const frame = frameOf(JSON.stringify(message));
    for (let at = 0; at < frame.length; ) at += writeSync(output, frame, at);
  },
  ask(message: EngineMessage): string {
    this.send(message);
    return receive();
  },
};

function receive(): string {
  return bytesOf(lengthIn(bytesOf(headBytes))).toString();
}

function bytesOf(length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  for (let at = 0; at < length; ) {
    const count = readSync(input, bytes, at, length - at, null);
    if (count === 0) process.exit(1); // The server has ended.
    at += count;
  }
  return bytes;
}

const task = parseJson(receive()) as QueryTask;
try {
  const summary = new QueryEngine(task, server).run();
  server.send({ kind: "done", summary });
} catch (problem) {
  server.send({ kind: "failed", problem: problemOf(problem, task) });
}
