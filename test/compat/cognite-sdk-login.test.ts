// A published client, @cognite/sdk 1.7.7, unmodified, with tokens instead of an API key.
import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import sdk from "@cognite/sdk";
import { decodeJwt } from "jose";
import { recordReturns } from "../support/every-method.ts";
import { client, startProvider, type TestProvider } from "../support/provider.ts";
import { startTestServer, type TestServer, withFront } from "../support/server.ts";

const { Assets } = sdk;

/**
 * Methods of a browser window: `authorize` in cognite-sdk-browser.test.ts runs them, or calls them in turn.
 */
const inBrowser = [
  ...["authorize", "loginWithRedirect", "isPopupWindow", "popupHandler"],
  ...["parseQuery", "scheduleRenewal", "silentLogin", "verifyTokens"],
].map((method) => `Login.${method}`);
const calls = recordReturns({ Login: sdk.Login, Logout: sdk.Logout });
const { Login, Logout } = calls.recorded;
const app = "http://app.plant.example/";
const addresses = { redirectUrl: `${app}home`, errorRedirectUrl: `${app}error` };

let server: TestServer;
let provider: TestProvider;

before(async () => {
  server = await startTestServer(withFront);
  provider = await startProvider();
  const authentication = {
    oAuth2Configuration: { clientId: client.id, clientSecret: client.secret },
    openIdConfiguration: { issuer: provider.issuer, redirectUrls: [app] },
  };
  await server.ask("PUT /", { items: [{ name: "demo", authentication }] });
  const all = { actions: ["READ", "WRITE"], scope: { all: {} } };
  const group = { name: "engineers", sourceId: "engineers", capabilities: [{ assetsAcl: all }] };
  await server.ask("POST /groups", { items: [group] });
  sdk.configure({ baseUrl: server.baseUrl, project: server.project });
});
after(async () => {
  await server.close();
  await provider.close();
});

const refused = (status: number) => (error: unknown) => (error as { status?: number }).status === status;

it("setBearerToken, verifyStatus and validateJWT take a token of the provider", async () => {
  const token = await provider.token();
  sdk.setBearerToken(token);
  const status = await Login.verifyStatus();
  assert.equal(status?.loggedIn, true);
  assert.equal(status?.user, "engineer@plant.example");
  assert.equal(status?.project, server.project);
  assert.deepEqual(await Login.validateJWT(token), { token, valid: true, expired: false });
});

it("the token's groups decide what the client may do", async () => {
  sdk.setBearerToken(await provider.token());
  const [made] = await Assets.create([{ name: "pump" }]);
  assert.equal((await Assets.retrieve(made!.id)).name, "pump");
  sdk.setBearerToken(await provider.token({ groups: ["visitors"] }));
  await assert.rejects(Assets.list(), refused(403));
});

it("an expired token is told from a forged one, and neither is logged in", async () => {
  const expired = await provider.token({ exp: 1 });
  sdk.setBearerToken(expired);
  assert.equal((await Login.verifyStatus())?.loggedIn, false);
  assert.deepEqual(await Login.validateJWT(expired), { token: expired, valid: false, expired: true });
  const forged = `${(await provider.token()).slice(0, -4)}AAAA`;
  assert.deepEqual(await Login.validateJWT(forged), { token: forged, valid: false, expired: false });
  await assert.rejects(Assets.list(), refused(401));
});

it("retrieveLoginUrl and retrieveLogoutUrl lead to the provider", async () => {
  const begin = new URL(await Login.retrieveLoginUrl(addresses));
  assert.equal(begin.origin, server.baseUrl);
  const parametersOf = (url: URL) => Object.fromEntries(url.searchParams);
  assert.deepEqual(parametersOf(begin), parametersOf(new URL(Login.getLoginUrl(addresses))));
  const response = await fetch(begin, { redirect: "manual" });
  assert.equal(new URL(response.headers.get("location")!).origin, provider.issuer);
  sdk.setBearerToken(await provider.token());
  const end = new URL(await Logout.retrieveLogoutUrl({ redirectUrl: addresses.redirectUrl }));
  assert.equal(end.origin, provider.issuer);
  assert.equal(end.searchParams.get("post_logout_redirect_uri"), addresses.redirectUrl);
  await assert.rejects(
    Login.retrieveLoginUrl({ ...addresses, redirectUrl: "http://evil.example/" }),
    refused(400),
  );
});

it("logout ends in the status of a stranger; a token of the provider is the provider's to end", async () => {
  const token = await provider.token();
  sdk.setBearerToken(token);
  assert.equal((await Logout.logout()).loggedIn, false);
  assert.equal((await Login.verifyStatus())?.loggedIn, true);
  assert.equal(decodeJwt(token).iss, provider.issuer);
});

it("loginWithApiKey uses the key beside the token, and stopAutoAuthorize ends renewals", async () => {
  sdk.setBearerToken(await provider.token());
  const status = await Login.loginWithApiKey(server.key);
  assert.deepEqual([status.loggedIn, status.project], [true, server.project]);
  Login.stopAutoAuthorize();
  const [made] = await Assets.create([{ name: "with the key" }]);
  assert.equal(made!.name, "with the key");
});

it("every method has returned", () => calls.assertAllReturned(inBrowser));
