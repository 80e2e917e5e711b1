// The SQL catalog on PostgreSQL: the port's conformance suite.
import { needs } from "../../../test/support/needs.ts";
import { newDatabase } from "../../../test/support/postgres.ts";
import { realSystem } from "../../lib/system.ts";
import { catalogConformance, comparisons } from "../conformance/catalog.ts";
import { tables } from "../conformance/samples.ts";
import type { ScanLimits } from "./compile-filter.ts";
import { openPostgresCatalog } from "./postgres-catalog.ts";

const opening = (scanLimits?: ScanLimits) => async () => {
  const { url, drop } = await newDatabase();
  const settings = { url, tables, system: realSystem, ...(scanLimits && { scanLimits }) };
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
  const few = { rejectedFirstMax: 0, lookupFirstMax: 1, rejectedMax: 10, lookupMax: 2, rankedMax: 2 };
  catalogConformance("postgres, three records being many", opening(few), comparisons);
}
