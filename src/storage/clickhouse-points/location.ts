// Parses the address of a ClickHouse database:
// clickhouse://user:password@host:8123,host:8123/database?quorum=2.

export interface ClickHouseHost {
  readonly host: string;
  /** Port of the HTTP interface. */
  readonly port: number;
}

export interface ClickHouseLocation {
  /** The replicas; a statement goes to the first that responds. */
  readonly hosts: readonly [ClickHouseHost, ...ClickHouseHost[]];
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** Replicas that must have an insert before it is acknowledged; absent without replicated tables. */
  readonly quorum?: number;
}

export const clickHouseUrlForm = "clickhouse://user:password@host:8123/database";

const defaultPort = 8123;
const identifier = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
const form = /^clickhouse:\/\/(?:([^@/?#]*)@)?([^@/?#]+)\/([^/?#]*)(?:\?quorum=([2-9]))?$/;

/** Undefined for a string of another form. */
export function parseClickHouseUrl(text: string): ClickHouseLocation | undefined {
  const [, credentials = "", authority = "", database = "", quorum] = form.exec(text) ?? [];
  if (!identifier.test(database)) return undefined;
  const [first, ...others] = authority.split(",").map(hostOf);
  const hosts = others.filter((one) => one !== undefined);
  if (first === undefined || hosts.length < others.length) return undefined;
  const [user, password] = splitOnce(credentials).map(decoded);
  if (user === undefined || password === undefined) return undefined;
  return {
    hosts: [first, ...hosts],
    user: user === "" ? "default" : user,
    password,
    database,
    ...(quorum !== undefined && { quorum: Number(quorum) }),
  };
}

/** The location for messages and logs, without the password. */
export const withoutPassword = ({ hosts, user, database, quorum }: ClickHouseLocation): string =>
  `clickhouse://${encodeURIComponent(user)}@${hosts.map(authorityOf).join()}/${database}` +
  (quorum === undefined ? "" : `?quorum=${quorum}`);

const authorityOf = ({ host, port }: ClickHouseHost) => `${host.includes(":") ? `[${host}]` : host}:${port}`;

function hostOf(text: string): ClickHouseHost | undefined {
  const url = URL.parse(`clickhouse://${text}`);
  if (url === null || url.hostname === "") return undefined;
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: url.port === "" ? defaultPort : Number(url.port),
  };
}

function splitOnce(credentials: string): [user: string, password: string] {
  const colon = credentials.indexOf(":");
  return colon < 0 ? [credentials, ""] : [credentials.slice(0, colon), credentials.slice(colon + 1)];
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
