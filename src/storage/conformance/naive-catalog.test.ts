// The naive catalog keeps the port's contract itself.
import { catalogConformance } from "./catalog.ts";
import { openNaiveCatalog } from "./naive-catalog.ts";
import { tables } from "./samples.ts";

catalogConformance("naive", async () => {
  const catalog = openNaiveCatalog(tables);
  return { catalog, drop: () => catalog.close() };
});
