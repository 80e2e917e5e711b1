// The stages of a request: their order, and that a refusal in one of them skips the later ones.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import type { FastifyInstance } from "fastify";
import { pino } from "pino";
import { noAudit } from "../../test/support/audit.ts";
import type { Services } from "../context.ts";
import { fail } from "../errors.ts";
import { FairTurns } from "../lib/fair-turns.ts";
import { none } from "../lib/not-covered.ts";
import { JsonDecoders } from "../rest/json.ts";
import { boundlessDisk } from "../storage/disk-space.ts";
import { noTracing } from "../tracing/tracing.ts";
import { bodyBuffers } from "./body.ts";
import { MemoryBudget } from "./memory-budget.ts";
import { createMetrics } from "./metrics.ts";
import { addEndpoint, type Client, type Endpoint } from "./pipeline.ts";
import { sourceOf } from "./project-access.ts";
import type { Protocol } from "./protocol.ts";
import { usualDeadlines } from "./request-lifetime.ts";
import { SendBatch } from "./send-batch.ts";
import { createHttp } from "./server.ts";

const stages: string[] = [];
const bytes = 2 ** 20;
const sizes = { sharedBytes: bytes, clientBytes: bytes, reserveBytes: bytes, uncountedBytes: 2 ** 10 };

/** Writes errors as plain text. */
const plain: Protocol = {
  roots: ["/plain/"],
  sourceOf,
  errorOf: ({ message }) => ({ headers: { "content-type": "text/plain" }, body: Buffer.from(message) }),
};

const passed = (request: { readonly url: string }, stage: string): void => {
  stages.push(stage);
  if (request.url.includes(`stop=${stage}`)) throw fail("forbidden", { acl: "assetsAcl", action: "READ" });
};

/** The stage before each time that the pipeline told the batch of work, and whether that may be long. */
const works: (readonly [stage: string | undefined, mayBeLong: boolean])[] = [];

class RecordingBatch extends SendBatch {
  override beforeWork(work: { readonly mayBeLong: boolean }): void {
    works.push([stages.at(-1), work.mayBeLong]);
    super.beforeWork(work);
  }
}

const endpointAt = (url: string): Endpoint<Client, string, string, string> => ({
  method: "POST",
  url,
  admit(request) {
    passed(request, "admit");
    return { client: "somebody" };
  },
  effect: "write",
  decode(request) {
    passed(request, "decode");
    return "input";
  },
  readBody({ request }, receive) {
    passed(request, "body");
    return receive(bytes, async (body) => body.toString());
  },
  async handle({ request, input }, body) {
    passed(request, "handle");
    return `${input} ${body}`;
  },
  audit: none("a test"),
  send: ({ reply }, result) => reply.send(result),
});

let http: FastifyInstance;
let base: string;
let isFull = false;

before(async () => {
  http = await createHttp({
    ...{
      log: pino({ level: "silent" }),
      tracing: noTracing,
      metrics: createMetrics(),
      recordRefusal: () => undefined,
    },
    protocols: [plain],
    settings: { trustedProxies: [] },
  });
  const disk = {
    ...boundlessDisk,
    requireSpace() {
      stages.push("disk");
      if (isFull) throw fail("disk-full", { problem: "the disk is full" });
    },
  };
  const kernel = {
    services: { disk, audit: noAudit } as unknown as Services,
    authenticator: undefined as never,
    keyUses: undefined as never,
    readTurns: undefined as never,
    sendBatch: new RecordingBatch(),
    decoders: new JsonDecoders(),
    bodies: { budget: new MemoryBudget(sizes), buffers: bodyBuffers() },
    responses: new MemoryBudget(sizes),
    deadlines: usualDeadlines,
  };
  for (const url of ["/plain/a", "/other/a"]) addEndpoint(http, kernel, endpointAt(url));
  const turns = new FairTurns(0);
  const read = endpointAt("/plain/read");
  addEndpoint(http, kernel, {
    ...read,
    effect: "read",
    admit: async (request, audit) => ({ ...(await read.admit(request, audit)), turn: turns.of("somebody") }),
  });
  base = await http.listen({ port: 0, host: "127.0.0.1" });
});
after(() => http.close());
beforeEach(() => {
  stages.length = 0;
  works.length = 0;
  isFull = false;
});

const post = (path: string) => fetch(base + path, { method: "POST", body: "text" });

test("a request goes through the stages in their order", async () => {
  const response = await post("/plain/a");
  assert.equal(await response.text(), "input text");
  assert.deepEqual(stages, ["admit", "disk", "decode", "body", "handle"]);
});

test("a refusal keeps all later stages from running", async () => {
  const order = ["admit", "decode", "body", "handle"];
  for (const stage of order) {
    stages.length = 0;
    assert.equal((await post(`/plain/a?stop=${stage}`)).status, 403);
    assert.deepEqual(
      stages.filter((one) => one !== "disk"),
      order.slice(0, order.indexOf(stage) + 1),
    );
  }
  isFull = true;
  stages.length = 0;
  assert.equal((await post("/plain/a")).status, 503);
  assert.deepEqual(stages, ["admit", "disk"]);
});

test("responses that wait are sent before a write, which may be long", async () => {
  await post("/plain/a");
  assert.deepEqual(works[0], [undefined, true]);
  assert.deepEqual(works.slice(1), [["handle", false]]);
});

test("the time that responses wait is checked before a read and whenever it resumes", async () => {
  await post("/plain/read");
  assert.deepEqual(works, [
    [undefined, false],
    ["decode", false],
    ["handle", false],
  ]);
});

test("each protocol writes errors in its own format", async () => {
  const ofPlain = await post("/plain/a?stop=admit");
  assert.equal(await ofPlain.text(), "This needs the capability assetsAcl with the action READ");
  const ofOther = await post("/other/a?stop=admit");
  assert.equal(((await ofOther.json()) as { error: { code: number } }).error.code, 403);
  const unknown = await fetch(`${base}/plain/nothing%zz`);
  assert.match(unknown.headers.get("content-type") ?? "", /text\/plain/);
});
