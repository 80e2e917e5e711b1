// The SQL catalog on SQLite: the port's conformance suite, and what only a file and processes can show.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realWorld } from "../../lib/world.ts";
import { catalogConformance } from "../conformance/catalog.ts";
import { tables } from "../conformance/samples.ts";
import { openSqlCatalog } from "./sql-catalog.ts";

catalogConformance("sqlite", async () => {
  const folder = await mkdtemp(join(tmpdir(), "millrace-catalog-"));
  const catalog = await openSqlCatalog({ file: join(folder, "catalog.db"), tables, world: realWorld });
  const drop = async () => {
    await catalog.close();
    await rm(folder, { recursive: true });
  };
  return { catalog, drop };
});
