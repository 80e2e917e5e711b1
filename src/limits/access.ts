// Limits of keys, logins, groups and sessions.
import { limit } from "./limit.ts";

export const accessLimits = {
  securityCategoriesMax: limit(1_000, "ids", "Security categories of one time series."),
  explanationItemsMax: limit(
    20,
    "items",
    "Grants, and assets of the record, in the explanation of a right. More do not help people.",
  ),
  seeAsGroupsMax: limit(100, "groups", "Groups of `X-See-As-Group` or an explanation. More are refused."),
  keyCacheMsMax: limit(500, "ms", "The time until a server sees that an API key was created or revoked."),
  keyUseAccuracyMs: limit(60_000, "ms", "The accuracy of the last use of an API key."),
  keyChainMax: limit(16, "keys", "API keys in a chain in which each key created the next. More are refused."),
  keyEndMsMax: limit(8_640_000_000_000_000, "ms", "The latest end of an API key, at the end of all dates."),
  groupsBodyBytesMax: limit(4 * 2 ** 20, "bytes", "A request body for groups. Rights are compared at once."),
  groupsPerPageMax: limit(1_000, "groups", "A page of groups. A larger `limit` is lowered to this."),
  groupRightsLengthMax: limit(65_536, "characters", "Capabilities and permissions of a group, as JSON."),
  accountGroupsMax: limit(100, "groups", "Groups of one service account."),
  categoriesPerPageMax: limit(
    1_000,
    "categories",
    "A page of security categories. A larger `limit` is lowered.",
  ),
  categoriesListDefault: limit(25, "categories", "A page of security categories when `limit` is absent."),
  addressLengthMax: limit(1_024, "characters", "The address of an identity provider, or a redirect address."),
  redirectUrlsMax: limit(
    100,
    "addresses",
    "Redirect addresses of one project, to which browsers may be sent with tokens.",
  ),
  audiencesMax: limit(100, "audiences", "Audiences of tokens for one project."),
  tokenLengthMax: limit(16_384, "characters", "A token. A longer one is not valid."),
  tokenGroupsMax: limit(1_000, "groups", "Groups of one token that count. Later ones are ignored."),
  clockToleranceMs: limit(30_000, "ms", "The allowed difference to the clock of an identity provider."),
  providerResponseMsMax: limit(5_000, "ms", "The time in which an identity provider must respond."),
  providerResponseBytesMax: limit(2 ** 18, "bytes", "A response of an identity provider."),
  providerFreshMsMax: limit(
    10 * 60_000,
    "ms",
    "How long the keys of an identity provider are used before the server requests them again.",
  ),
  providerRefetchMsMin: limit(
    10_000,
    "ms",
    "The minimum time between two requests to an identity provider for its keys, also after a failure.",
  ),
  providerStaleMsMax: limit(
    24 * 3_600_000,
    "ms",
    "How long the keys of an identity provider are used while it does not respond. Then its tokens get 503.",
  ),
  loginMsMax: limit(3_600_000, "ms", "How long the tokens and the cookie of a login in a browser are valid."),
  programTokenMsMax: limit(3_600_000, "ms", "How long a token of `/oauth2/token` is valid."),
  sessionMsMax: limit(43_200_000, "ms", "How long a session of the console is valid: one shift of work."),
  sessionsPerAccountMax: limit(100, "sessions", "Sessions and links of one account; more end the oldest."),
  signInLinkMsMax: limit(3_600_000, "ms", "How long a one-time link to the console is valid."),
  pendingLoginMsMax: limit(600_000, "ms", "How long a login in a browser may take at the provider."),
  throttledNamesMax: limit(
    20_000,
    "names",
    "Addresses and credentials whose logins and failures are counted. The oldest may be forgotten.",
  ),
} as const;
