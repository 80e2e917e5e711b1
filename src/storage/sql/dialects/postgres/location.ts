// The address of a PostgreSQL database, which may name several hosts: a primary and its standbys.
//
// `postgres://user:password@host:5432,host:5432/database?sslmode=verify-full`, as libpq accepts it.

const form = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^@/?#]+)(\/[^/?#]+(?:\?[^#]*)?)$/;

/** The address of the database at each host, in the order of the setting; empty for another form. */
export function postgresUrls(text: string): readonly string[] {
  const [, before = "", authority = "", after = ""] = form.exec(text) ?? [];
  const urls = authority.split(",").map((host) => before + host + after);
  const isGood = (url: string) => (URL.parse(url)?.hostname ?? "") !== "";
  return urls.every(isGood) ? urls : [];
}

/** Hosts and database, without user and password. */
export const postgresNameOf = (url: string): string =>
  `${postgresUrls(url).map((one) => new URL(one).host)}${new URL(postgresUrls(url)[0]!).pathname}`;
