// The identity provider of a project: its `authentication` record, with defaults for absent members.
import { fail } from "../errors.ts";
import { limits } from "../limits.ts";

/** The login settings of a project; published clients do not know `openIdConfiguration`. */
export interface Authentication {
  readonly type?: string;
  readonly protocol?: string;
  /** Domains of the e-mail addresses that get in; empty or absent: any user of the provider. */
  readonly validDomains?: readonly string[];
  readonly azureADConfiguration?: Readonly<Record<string, string>>;
  readonly oAuth2Configuration?: Readonly<Record<string, string>>;
  readonly openIdConfiguration?: OpenIdConfiguration;
}

/** Settings that the published shape of the record lacks. */
export interface OpenIdConfiguration {
  /** The provider's address, as it calls itself in its tokens; its keys are found below it. */
  readonly issuer?: string;
  /** The accepted values of `aud` in tokens; the client id when absent. */
  readonly audiences?: readonly string[];
  /** The claim that lists a user's groups, by the ids that groups here hold as `sourceId`. */
  readonly groupsClaim?: string;
  /** Where a browser may be sent with its tokens. */
  readonly redirectUrls?: readonly string[];
  readonly algorithms?: readonly SigningAlgorithm[];
  /** The OAuth scope that a browser login requests. */
  readonly scope?: string;
}

/** Asymmetric algorithms only: with a shared key, a verifier could also issue tokens (RFC 8725, 3.2). */
export const signingAlgorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
] as const;
export type SigningAlgorithm = (typeof signingAlgorithms)[number];

/** A provider as everything else wants it. */
export interface Provider {
  /** Where discovery begins. */
  readonly issuer: string;
  /** The permitted values of `iss` in a token: Azure AD signs as two. */
  readonly issuers: readonly string[];
  readonly audiences: readonly string[];
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly groupsClaim: string;
  /** The values of `source` that mark a group as one of this provider. */
  readonly sources: readonly string[];
  readonly validDomains: readonly string[];
  readonly redirectUrls: readonly string[];
  readonly algorithms: readonly SigningAlgorithm[];
  readonly scope: string;
  /** Where a browser logs out, if the provider does not say. */
  readonly logoutUrl?: string;
  /** Claims that hold an address which users cannot choose themselves, best first. */
  readonly addressClaims: readonly string[];
}

/** Returns the provider in a project's record; undefined when the project has none to log in with. */
export function providerOf(authentication: Authentication | undefined): Provider | undefined {
  if (!authentication) return undefined;
  const {
    type,
    azureADConfiguration: azure,
    oAuth2Configuration: oAuth2,
    openIdConfiguration: own = {},
  } = authentication;
  const tenant = azure?.["tenantId"];
  const issuers = own.issuer !== undefined ? [own.issuer] : tenant !== undefined ? azureIssuers(tenant) : [];
  const clientId = oAuth2?.["clientId"] ?? azure?.["appId"];
  const clientSecret = oAuth2?.["clientSecret"] ?? azure?.["appSecret"];
  const audiences = own.audiences?.length ? own.audiences : audiencesOf(clientId, azure);
  const [issuer] = issuers;
  if (issuer === undefined || audiences.length === 0) return undefined;
  const logoutUrl = oAuth2?.["logoutUrl"];
  return {
    issuer,
    issuers,
    audiences,
    ...(clientId !== undefined && { clientId }),
    ...(clientSecret !== undefined && { clientSecret }),
    groupsClaim: own.groupsClaim ?? "groups",
    // A client that overwrites a project with the record it read sends an empty type where none is set.
    sources: [issuer, ...(type ? [type] : [])],
    validDomains: (authentication.validDomains ?? []).map((domain) => domain.toLowerCase()),
    redirectUrls: own.redirectUrls ?? [],
    algorithms: own.algorithms?.length ? own.algorithms : signingAlgorithms,
    scope: own.scope ?? "openid profile email",
    ...(logoutUrl !== undefined && { logoutUrl }),
    // In a tenant of Azure AD its administrators give these names; elsewhere users may choose a name.
    addressClaims: tenant === undefined ? ["email", "upn"] : ["email", "upn", "preferred_username"],
  };
}

/**
 * Version 2 first, as its discovery is the one in use; tokens for an API of one's own are often version 1.
 */
const azureIssuers = (tenant: string) => [
  `https://login.microsoftonline.com/${tenant}/v2.0`,
  `https://sts.windows.net/${tenant}/`,
];

function audiencesOf(clientId: string | undefined, azure: Readonly<Record<string, string>> = {}): string[] {
  const { appId, appResourceId } = azure;
  const all = [clientId, appId, appId && `api://${appId}`, appResourceId];
  return [...new Set(all.filter((one) => one !== undefined))];
}

/** Refuses (400) an invalid configuration of a provider; the refusal names the field of the request. */
export function checkAuthentication(authentication: Authentication, field: string): void {
  const { openIdConfiguration: own, azureADConfiguration: azure } = authentication;
  const refuse = (member: string, expected: string, got: string) => {
    throw fail("field-invalid", { field: `${field}.${member}`, expected, got });
  };
  const tenant = azure?.["tenantId"];
  if (tenant !== undefined && !/^[\w-]+(\.[\w-]+)*$/.test(tenant))
    refuse("azureADConfiguration.tenantId", "the id or the domain of a tenant", tenant);
  const logoutUrl = authentication.oAuth2Configuration?.["logoutUrl"];
  if (logoutUrl !== undefined && !isWebAddress(URL.parse(logoutUrl)))
    refuse("oAuth2Configuration.logoutUrl", "an http or https address", logoutUrl);
  if (own?.issuer !== undefined && !isIssuer(own.issuer))
    refuse("openIdConfiguration.issuer", issuerExpected, own.issuer);
  for (const [index, url] of (own?.redirectUrls ?? []).entries())
    if (!isRedirectUrl(url)) refuse(`openIdConfiguration.redirectUrls[${index}]`, redirectExpected, url);
}

const issuerExpected = "an https address without query and fragment (http on this machine alone)";
const redirectExpected = "an http or https address without query, fragment and credentials";

function isIssuer(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && isSafeAddress(url) && bare(url) && text.length <= limits.addressLengthMax;
}

function isRedirectUrl(text: string): boolean {
  const url = URL.parse(text);
  return isWebAddress(url) && bare(url) && text.length <= limits.addressLengthMax;
}

const isWebAddress = (url: URL | null): url is URL => url !== null && /^https?:$/.test(url.protocol);

const bare = ({ search, hash, username, password }: URL) => search + hash + username + password === "";

/** Whether keys and tokens may travel to and from this address: encrypted, or not beyond this machine. */
export const isSafeAddress = ({ protocol, hostname }: URL): boolean =>
  protocol === "https:" || (protocol === "http:" && isLoopback(hostname));

const isLoopback = (hostname: string) =>
  hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);

/**
 * The address to send a browser to, if the provider's list has it: an entry allows its own path, and one that
 * ends in a slash all paths below it, each with any query. Undefined when none does.
 */
export function allowedRedirect({ redirectUrls }: Provider, wanted: string): URL | undefined {
  const url = URL.parse(wanted);
  if (!url || url.username + url.password !== "" || url.href.length > limits.addressLengthMax)
    return undefined;
  const isAllowed = redirectUrls.some((one) => {
    const { origin, pathname } = new URL(one);
    if (origin !== url.origin || !isWebAddress(url)) return false;
    return pathname === url.pathname || (pathname.endsWith("/") && url.pathname.startsWith(pathname));
  });
  return isAllowed ? url : undefined;
}
