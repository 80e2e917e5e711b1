// The identity provider in a project's record, and the permitted redirect addresses.
import assert from "node:assert/strict";
import { test } from "node:test";
import { allowedRedirect, isSafeAddress, providerOf } from "./provider.ts";

test("a tenant of Azure AD has two issuers, and audiences by its ids", () => {
  const provider = providerOf({
    type: "AzureAD",
    azureADConfiguration: { appId: "app", appSecret: "hush", tenantId: "tenant", appResourceId: "resource" },
    validDomains: ["Plant.Example"],
  });
  assert.deepEqual(
    { ...provider, algorithms: [] },
    {
      issuer: "https://login.microsoftonline.com/tenant/v2.0",
      issuers: ["https://login.microsoftonline.com/tenant/v2.0", "https://sts.windows.net/tenant/"],
      audiences: ["app", "api://app", "resource"],
      clientId: "app",
      clientSecret: "hush",
      groupsClaim: "groups",
      sources: ["https://login.microsoftonline.com/tenant/v2.0", "AzureAD"],
      validDomains: ["plant.example"],
      redirectUrls: [],
      algorithms: [],
      scope: "openid profile email",
      addressClaims: ["email", "upn", "preferred_username"],
    },
  );
});

test("without an issuer, or without anybody that tokens are for, there is no provider", () => {
  assert.equal(providerOf(undefined), undefined);
  assert.equal(providerOf({ type: "AzureAD", oAuth2Configuration: { clientId: "x" } }), undefined);
  assert.equal(providerOf({ openIdConfiguration: { issuer: "https://sso.example" } }), undefined);
  const bare = { openIdConfiguration: { issuer: "https://sso.example", audiences: ["plant"] } };
  assert.deepEqual(providerOf(bare)?.audiences, ["plant"]);
});

test("only encrypted addresses are safe, or those of this machine", () => {
  const safe = ["https://sso.example", "http://localhost:1", "http://127.8.0.1", "http://[::1]:9"];
  const unsafe = ["http://sso.example", "http://127.0.0.1.evil.example", "http://localhost.evil.example"];
  for (const one of safe) assert.equal(isSafeAddress(new URL(one)), true, one);
  for (const one of [...unsafe, "ftp://localhost", "file:///etc"])
    assert.equal(isSafeAddress(new URL(one)), false, one);
});

test("an entry of the list allows its own path, one that ends in a slash all below it", () => {
  const provider = providerOf({
    openIdConfiguration: {
      issuer: "https://sso.example",
      audiences: ["x"],
      redirectUrls: ["https://app.example/one", "https://app.example/all/"],
    },
  });
  const target = (address: string) => allowedRedirect(provider!, address)?.href;
  assert.equal(target("https://app.example/one?a=1#b"), "https://app.example/one?a=1#b");
  assert.equal(target("https://app.example/all/of/it"), "https://app.example/all/of/it");
  assert.equal(target("HTTPS://APP.example:443/all/x/../y"), "https://app.example/all/y");
  for (const address of ["https://app.example/one/more", "https://app.example/all", "https://app.example/o"])
    assert.equal(target(address), undefined, address);
});
