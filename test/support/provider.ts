// A real OpenID Connect provider on loopback: it accepts all logins, and tests can change its keys and
// stop it.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from "jose";
import { Provider } from "oidc-provider";

/** Whom the provider knows the server under test by. */
export const client = { id: "millrace-client", secret: "a-secret-of-the-client" } as const;

/** Where the provider may send a browser. */
interface Registered {
  readonly redirectUris: readonly string[];
  readonly logoutUris: readonly string[];
}

export interface SigningKey {
  readonly alg: string;
  readonly kid: string;
  readonly privateKey: CryptoKey;
  /** As the provider publishes it. */
  readonly publicJwk: JWK;
  readonly privateJwk: JWK;
}

export interface TestProvider {
  readonly issuer: string;
  /** The key that it signs with now. */
  readonly key: SigningKey;
  /** The number of requests for its keys. */
  readonly keyRequests: number;
  /** How many requests it got. */
  readonly requests: number;
  /** A token as it makes them, signed by it; members that are undefined are left out. */
  token(claims?: Claims, header?: Readonly<Record<string, unknown>>): Promise<string>;
  /** From now on it has another key, and does not know the old one. */
  rotate(): Promise<void>;
  /** "away": every connection breaks. "failing": every response is a 500. "moved": a redirect. */
  become(state: ProviderState): void;
  close(): Promise<void>;
}

type ProviderState = "well" | "away" | "failing" | "moved";
type Claims = Readonly<Record<string, unknown>>;

/** The groups of `engineer@plant.example`, and so on. */
const groupsOf = (account: string) => [`${account.split("@")[0]}s`, "everyone"];

export async function startProvider(
  registered: Registered = { redirectUris: [], logoutUris: [] },
): Promise<TestProvider> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let key = await signingKey("RS256");
  let state: ProviderState = "well";
  let keyRequests = 0;
  let requests = 0;
  const make = () => providerWith(issuer, key, registered);
  let handle = make();
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    requests++;
    if (request.url?.startsWith("/jwks")) keyRequests++;
    if (state === "away") request.socket.destroy();
    else if (state === "failing") response.writeHead(500).end();
    else if (state === "moved") response.writeHead(302, { location: `${issuer}/elsewhere` }).end();
    else handle(request, response);
  });
  return {
    issuer,
    get key() {
      return key;
    },
    get requests() {
      return requests;
    },
    get keyRequests() {
      return keyRequests;
    },
    token: (claims = {}, header = {}) => signed({ iss: issuer, ...claims }, key, header),
    async rotate() {
      key = await signingKey("RS256");
      handle = make();
    },
    become(wanted) {
      state = wanted;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

export async function signingKey(alg: string): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const kid = crypto.randomUUID();
  const named = async (key: CryptoKey) => ({ ...(await exportJWK(key)), alg, kid, use: "sig" });
  return { alg, kid, privateKey, publicJwk: await named(publicKey), privateJwk: await named(privateKey) };
}

/** A token of a user in the group "engineers", valid for five minutes, unless `claims` override it. */
export function signed(
  claims: Claims,
  { privateKey, alg, kid }: SigningKey,
  header: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const all = {
    aud: client.id,
    sub: "engineer@plant.example",
    email: "engineer@plant.example",
    groups: groupsOf("engineer@plant.example"),
    iat: now,
    exp: now + 300,
    ...claims,
  };
  const given = Object.entries(all).filter(([, value]) => value !== undefined);
  return new SignJWT(Object.fromEntries(given) as JWTPayload)
    .setProtectedHeader({ alg, kid, ...header })
    .sign(privateKey);
}

function providerWith(issuer: string, { privateJwk }: SigningKey, registered: Registered) {
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: registered.redirectUris,
        post_logout_redirect_uris: registered.logoutUris,
        response_types: ["code"],
        grant_types: ["authorization_code"],
      },
    ],
    jwks: { keys: [privateJwk] },
    cookies: { keys: ["only for tests"] },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"], groups: ["groups"] },
    scopes: ["openid", "email", "profile", "groups"],
    pkce: { required: () => true },
    ttl: { Interaction: 600, Session: 600, Grant: 600, IdToken: 600, AccessToken: 600 },
    findAccount: (_context: unknown, accountId: string) => ({
      accountId,
      claims: () => ({
        sub: accountId,
        email: accountId,
        email_verified: true,
        name: accountId,
        groups: groupsOf(accountId),
      }),
    }),
    // Consent is not tested.
    loadExistingGrant: async (context: GrantContext) => {
      const grant = new provider.Grant({
        clientId: context.oidc.client.clientId,
        accountId: context.oidc.session.accountId,
      });
      grant.addOIDCScope("openid email profile groups");
      await grant.save();
      return grant;
    },
  });
  return provider.callback();
}

interface GrantContext {
  readonly oidc: {
    readonly client: { readonly clientId: string };
    readonly session: { readonly accountId: string };
  };
}
