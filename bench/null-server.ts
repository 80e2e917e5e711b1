// A server on Node's own HTTP server without a product in it: `null-server.ts PORT [FILE]` reads each request
// and sends a fixed response, and with a file appends the body to it and syncs it first.
import { fdatasync, openSync, writev } from "node:fs";
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";

const [, , port, path] = process.argv;
const response = '{"data":{"items":[{"timestamp":1780272000000,"value":12.5}]}}';

const [write, sync] = [promisify(writev), promisify(fdatasync)];
const file = path === undefined ? undefined : openSync(path, "a");
let waiting: Buffer[] = [];
let synced = Promise.resolve();
let next: Promise<void> | undefined;

/** Bodies that wait at the same time share one write and one sync. */
function append(file: number, body: Buffer): Promise<void> {
  waiting.push(body);
  next ??= synced.then(() => {
    next = undefined;
    synced = appendWaiting(file);
    return synced;
  });
  return next;
}

async function appendWaiting(file: number): Promise<void> {
  const bodies = waiting;
  waiting = [];
  await write(file, bodies);
  await sync(file);
}

createServer(async (request, reply) => {
  const body = await buffer(request);
  if (file !== undefined && body.length > 0) await append(file, body);
  reply.writeHead(200, { "content-type": "application/json", "content-length": response.length });
  reply.end(response);
}).listen(Number(port), "127.0.0.1");
