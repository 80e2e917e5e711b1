// Parses the address of a ClickHouse database: clickhouse://user:password@host:8123/database.

export interface ClickHouseLocation {
  readonly host: string;
  /** Port of the HTTP interface. */
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

export const clickHouseUrlForm = "clickhouse://user:password@host:8123/database";

const defaultPort = 8123;
const identifier = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

/** Undefined for a text of another form. */
export function parseClickHouseUrl(text: string): ClickHouseLocation | undefined {
  const url = URL.parse(text);
  if (url === null || url.protocol !== "clickhouse:" || url.hostname === "") return undefined;
  if (url.search !== "" || url.hash !== "") return undefined;
  const database = url.pathname.slice(1);
  if (!identifier.test(database)) return undefined;
  const [user, password] = [decoded(url.username), decoded(url.password)];
  if (user === undefined || password === undefined) return undefined;
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: url.port === "" ? defaultPort : Number(url.port),
    user: user === "" ? "default" : user,
    password,
    database,
  };
}

/** The location for messages and logs, without the password. */
export const withoutPassword = ({ host, port, user, database }: ClickHouseLocation): string =>
  `clickhouse://${encodeURIComponent(user)}@${host.includes(":") ? `[${host}]` : host}:${port}/${database}`;

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
