// The SQL catalog on PostgreSQL: the port's conformance suite.
import { needs } from "../../../test/support/needs.ts";
import { newDatabase } from "../../../test/support/postgres.ts";
import { realSystem } from "../../lib/system.ts";
import { catalogConformance, comparisons } from "../conformance/catalog.ts";
import { tables } from "../conformance/samples.ts";
import type { Gathering } from "./compile-filter.ts";
import { openPostgresCatalog } from "./postgres-catalog.ts";

const opening = (gathering?: Gathering) => async () => {
  const { url, drop } = await newDatabase();
  const settings = { url, tables, system: realSystem, ...(gathering && { gathering }) };
  const catalog = await openPostgresCatalog(settings);
  return {
    catalog,
    drop: async () => {
      await catalog.close();
      await drop();
    },
  };
};

if (!needs("postgresql").skip) {
  catalogConformance("postgres", opening());
  const few = { missedFirst: 0, first: 1, missed: 10, most: 2, ranked: 2 };
  catalogConformance("postgres, three records being many", opening(few), comparisons);
}
