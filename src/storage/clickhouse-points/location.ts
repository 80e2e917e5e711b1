// Parses the address of a ClickHouse database:
// clickhouse://user:password@a1:8123,a2:8123;b1,b2/database?quorum=2 has two shards with two replicas each.

export interface ClickHouseHost {
  readonly host: string;
  /** Port of the HTTP interface. */
  readonly port: number;
}

/** One shard. */
export interface ClickHouseLocation {
  /** The replicas; a statement goes to the first that responds. */
  readonly hosts: readonly [ClickHouseHost, ...ClickHouseHost[]];
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** Replicas that must have an insert before it is acknowledged; absent without replicated tables. */
  readonly quorum?: number;
}

/** All shards, in the order of the address. */
export type ClickHouseShards = readonly [ClickHouseLocation, ...ClickHouseLocation[]];

export const clickHouseUrlForm = "clickhouse://user:password@host:8123/database";

const defaultPort = 8123;
const identifier = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
const form = /^clickhouse:\/\/(?:([^@/?#]*)@)?([^@/?#]+)\/([^/?#]*)(?:\?quorum=([2-9]))?$/;

/** Undefined for a string of another form. */
export function parseClickHouseShards(text: string): ClickHouseShards | undefined {
  const [, credentials = "", authority = "", database = "", quorum] = form.exec(text) ?? [];
  if (!identifier.test(database)) return undefined;
  const [user, password] = splitOnce(credentials).map(decoded);
  if (user === undefined || password === undefined) return undefined;
  const access = { user: user === "" ? "default" : user, password, database };
  const level = quorum === undefined ? {} : { quorum: Number(quorum) };
  const shards = authority.split(";").map((replicas): ClickHouseLocation | undefined => {
    const hosts = replicas.split(",").map(hostOf);
    return isComplete(hosts) ? { hosts, ...access, ...level } : undefined;
  });
  return isComplete(shards) ? shards : undefined;
}

const isComplete = <Item>(items: readonly (Item | undefined)[]): items is readonly [Item, ...Item[]] =>
  items.length > 0 && !items.includes(undefined);

/** The address for messages and logs, without the password. */
export function withoutPassword(...shards: ClickHouseShards): string {
  const [{ user, database, quorum }] = shards;
  const authority = shards.map(({ hosts }) => hosts.map(authorityOf).join()).join(";");
  const level = quorum === undefined ? "" : `?quorum=${quorum}`;
  return `clickhouse://${encodeURIComponent(user)}@${authority}/${database}${level}`;
}

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
