// `millrace oidc`: the settings that it refuses, and that a running server applies the others.
import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { temporaryFolder } from "../../test/support/folder.ts";
import { endLeftProcesses, runMillrace, serveMillrace } from "../../test/support/process.ts";
import { signed, signingKey, startProvider, type TestProvider } from "../../test/support/provider.ts";

const folder = temporaryFolder();
/** The test providers listen on loopback. */
const environment = { MILLRACE_OUTBOUND_NETWORKS: "127.0.0.1" };
const adminKey = "a-key-of-the-administrator";
let server: Awaited<ReturnType<typeof serveMillrace>>;
let provider: TestProvider;
let odd: { readonly server: Server; readonly issuer: string };

before(async () => {
  [server, provider, odd] = await Promise.all([
    serveMillrace({ ...environment, MILLRACE_ADMIN_KEY: adminKey }, folder),
    startProvider(),
    oddProvider(),
  ]);
});
after(async () => {
  endLeftProcesses();
  await provider.close();
  odd.server.closeAllConnections();
  odd.server.close();
});

/**
 * Under `/name/`, `/insecure/`, `/weak/`: a provider with another name, unencrypted endpoints, a weak key.
 */
async function oddProvider(): Promise<{ server: Server; issuer: string }> {
  const { publicJwk } = await signingKey("RS256");
  const responses: Readonly<Record<string, (issuer: string) => object>> = {
    "/name": () => ({ issuer: "https://another.example", jwks_uri: "https://another.example/keys" }),
    "/insecure": (issuer) => ({ issuer, jwks_uri: "http://plant.example/keys" }),
    "/weak": (issuer) => ({ issuer, jwks_uri: `${issuer}/keys` }),
    "/keys": () => ({
      keys: [
        { kty: "oct", k: "c2VjcmV0" },
        { ...publicJwk, use: "enc" },
      ],
    }),
  };
  const made = createServer((request, response) => {
    const { port } = made.address() as AddressInfo;
    const [place = ""] = /^\/\w+/.exec(request.url ?? "") ?? [];
    const isKeys = request.url?.endsWith("/keys");
    const result = responses[isKeys ? "/keys" : place];
    response.end(JSON.stringify(result?.(`http://127.0.0.1:${port}${place}`) ?? {}));
  });
  made.listen(0, "127.0.0.1");
  await once(made, "listening");
  return { server: made, issuer: `http://127.0.0.1:${(made.address() as AddressInfo).port}` };
}

const oidc = (...words: string[]) => runMillrace(["oidc", ...words], environment, folder).ended;

async function statusOf(token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  return (await fetch(`${server.baseUrl}/api/0.5/projects/default`, { headers })).status;
}

test("a provider that does not fit is not saved, and the refusal says why", async () => {
  const cases: [words: string[], status: number, errors: RegExp][] = [
    [
      ["--issuer", "http://127.0.0.1:1"],
      1,
      /^The provider http:\/\/127.0.0.1:1 cannot be used: http.* cannot be reached: connect ECONNREFUSED/,
    ],
    [
      ["--issuer", "https://[::1]"],
      1,
      /cannot be reached: ::1 is not an address of the public .* MILLRACE_OUTBOUND_NETWORKS allows others/,
    ],
    [["--issuer", "http://sso.plant.example"], 1, /expected an https address .*\. Nothing was saved\.$/m],
    [["--issuer", `${odd.issuer}/name`], 1, /calls itself https:\/\/another\.example, not http/],
    [["--issuer", `${odd.issuer}/insecure`], 1, /names the jwks_uri http:\/\/plant\.example\/keys, which is/],
    [["--issuer", `${odd.issuer}/weak`], 1, /has no key that can verify tokens/],
    [["--redirect", "javascript:alert(1)"], 1, /redirectUrls\[0\] - expected an http or https address/],
    [["--domain", "plant.example"], 2, /^A provider needs an --issuer and a --client-id/],
  ];
  for (const [words, status, errors] of cases) {
    const ended = await oidc("set", "--client-id", "millrace-client", ...words);
    assert.equal(ended.status, status, ended.errors);
    assert.match(ended.errors, errors);
  }
  assert.equal((await oidc("show")).output, "The project default has no identity provider.\n");
  assert.equal((await oidc("forget")).status, 2);
  assert.equal((await oidc("set", "--project", "nowhere")).status, 1);
});

test("a provider that fits is saved, shown without its secret, and used by a running server", async () => {
  writeFileSync(join(folder, "secret.txt"), "hush\n");
  const token = await signed({ iss: provider.issuer }, provider.key);
  assert.equal(await statusOf(token), 401);
  const home = "https://app.plant.example/";
  const all = ["--issuer", provider.issuer, "--client-id", "millrace-client", "--redirect", home];
  const made = await oidc("set", ...all, "--client-secret-file", "secret.txt", "--domain", "plant.example");
  assert.equal(made.status, 0, made.errors);
  assert.equal(
    made.output,
    `The provider responds and has 1 key to verify tokens with.
Users log in to project default by this provider now.\n`,
  );
  await wait(1_000);
  assert.equal(await statusOf(token), 200);
  const more = await oidc("set", "--audience", "one", "--audience", "two", "--groups-claim", "roles");
  assert.equal(more.status, 0, more.errors);
  const { output } = await oidc("show");
  assert.equal(
    output,
    `issuer          ${provider.issuer}
client id       millrace-client
client secret   (set)
audiences       one two
groups claim    roles
redirects       https://app.plant.example/
domains         plant.example
algorithms      RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519
scope           openid profile email
`,
  );
});

test("the secret for one provider is not kept for another", async () => {
  const other = await startProvider();
  const moved = await oidc("set", "--issuer", other.issuer);
  assert.equal(moved.status, 0, moved.errors);
  assert.match((await oidc("show")).output, /^client secret {3}-$/m);
  await other.close();
});

test("the settings of Azure AD, which have another secret, are not kept for another provider", async () => {
  const azureADConfiguration = { tenantId: "plant", appId: "app", appSecret: "hush" };
  const project = { name: "default", authentication: { azureADConfiguration } };
  const saved = await fetch(`${server.baseUrl}/api/0.6/projects/default`, {
    method: "PUT",
    headers: { "api-key": adminKey, "content-type": "application/json" },
    body: JSON.stringify({ items: [project] }),
  });
  assert.equal(saved.status, 200, await saved.text());
  assert.match((await oidc("show")).output, /^client secret {3}\(set\)$/m);
  const other = await startProvider();
  const moved = await oidc("set", "--issuer", other.issuer, "--client-id", "millrace-client");
  assert.equal(moved.status, 0, moved.errors);
  const { output } = await oidc("show");
  assert.match(output, /^client secret {3}-$/m);
  assert.match(output, /^audiences {7}millrace-client$/m);
  await other.close();
});
