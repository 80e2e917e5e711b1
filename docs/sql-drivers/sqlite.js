// A driver for `millrace connect`: reads an SQLite file, with `url: sqlite:/srv/lab.db`. See connectors.md.
import { DatabaseSync } from "node:sqlite";

export function open({ url }) {
  const database = new DatabaseSync(decodeURIComponent(new URL(url).pathname), { readOnly: true });
  return {
    *read(sql, order) {
      const column = order && `"${order.column.replaceAll('"', '""')}"`;
      const isFirst = order?.from === undefined;
      const where = isFirst ? "" : `WHERE ${column} >= ?`;
      // Rows without a value come first: so SQLite sorts.
      const orderBy = order ? `ORDER BY ${column}` : "";
      const statement = database.prepare(`SELECT * FROM (${sql}\n) ${where} ${orderBy}`);
      statement.setReadBigInts(true);
      yield* statement.iterate(...(isFirst ? [] : [order.from]));
    },
    close() {
      database.close();
    },
  };
}
