// A step of the wall clock changes dates only: throttles and caches use the monotonic clock.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { client, startProvider, type TestProvider } from "../../test/support/provider.ts";
import { startTestServer, type TestServer } from "../../test/support/server.ts";
import { realSystem } from "../lib/system.ts";
import { limits } from "../limits.ts";
import { setAuthentication } from "../resources/projects/projects.ts";

const hourMs = 3_600_000;
const attemptsPerMinute = 5;
let steppedMs = 0;
let passedMs = 0;
const system = {
  ...realSystem,
  nowMs: () => Date.now() + passedMs + steppedMs,
  monotonicMs: () => performance.now() + passedMs,
};

let provider: TestProvider;
let server: TestServer;
before(async () => {
  provider = await startProvider();
  server = await startTestServer({ system, attemptsPerMinute });
  const { projectId } = (await server.app.services.keys.callerOf(server.key))!;
  await setAuthentication(server.app.services, projectId, {
    openIdConfiguration: { issuer: provider.issuer, audiences: [client.id] },
  });
  passedMs += limits.keyCacheMsMax;
});
after(async () => {
  await server.close();
  await provider.close();
});

const statusWith = async (key: string) =>
  (await server.ask("GET /assets", undefined, { "api-key": key })).status;
const newKey = async (lifeMs?: number): Promise<string> => {
  const { keys } = server.app.services;
  const caller = (await keys.callerOf(server.key))!;
  const ends = lifeMs === undefined ? {} : { expiresTime: system.nowMs() + lifeMs };
  return (await keys.create({ id: caller.projectId, urlName: caller.projectUrlName }, "test", ends)).key;
};

describe("after the wall clock steps back by an hour", () => {
  it("an address that failed too often waits seconds and not an hour", async () => {
    const key = await newKey();
    for (let at = 0; at < attemptsPerMinute; at++) assert.equal(await statusWith(`guess ${at}`), 401);
    assert.equal(await statusWith(key), 429);
    steppedMs -= hourMs;
    assert.equal(await statusWith(key), 429, "a step of the clock refills nothing");
    passedMs += 60_000;
    assert.equal(await statusWith(key), 200);
  });

  it("new keys of the identity provider count at once", async () => {
    const bearer = async () => {
      const iat = Math.floor(system.nowMs() / 1000);
      return {
        "api-key": undefined,
        authorization: `Bearer ${await provider.token({ iat, exp: iat + 300 })}`,
      };
    };
    assert.equal((await server.ask("GET /", undefined, await bearer())).status, 200);
    await provider.rotate();
    steppedMs -= hourMs;
    passedMs += limits.providerRefetchMsMin;
    assert.equal((await server.ask("GET /", undefined, await bearer())).status, 200);
  });
});

it("a key ends on its date, also while it is cached", async () => {
  const key = await newKey(hourMs);
  assert.equal(await statusWith(key), 200);
  steppedMs += 2 * hourMs;
  assert.equal(await statusWith(key), 401);
});
