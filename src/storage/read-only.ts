// Stores that refuse every change, for a server whose data is being copied.
import { fail } from "../errors.ts";
import type { BlobStore } from "./blobs.ts";
import type { Catalog } from "./catalog.ts";
import type { PointsStore } from "./points.ts";

const refused = async (): Promise<never> => {
  throw fail("being-copied", {});
};

/** The members of a shared catalog stay: its changes and leases have nothing to do with records. */
export const readOnlyCatalog = (catalog: Catalog): Catalog => ({
  ...catalog,
  write: refused,
  writeBoth: refused,
});

export const readOnlyPoints = (points: PointsStore): PointsStore => ({
  scanPoints: points.scanPoints,
  append: refused,
  delete: refused,
  scan: (query) => points.scan(query),
  aggregate: (query) => points.aggregate(query),
  latest: (series, beforeMs) => points.latest(series, beforeMs),
  oldPoints: (series, blocksMax) => points.oldPoints(series, blocksMax),
  stats: () => points.stats(),
  close: () => points.close(),
});

export const readOnlyBlobs = (blobs: BlobStore): BlobStore => ({
  put: refused,
  complete: refused,
  remove: refused,
  open: (key, range) => blobs.open(key, range),
  stat: (key) => blobs.stat(key),
  check: () => blobs.check(),
  link: (link, baseUrl) => blobs.link(link, baseUrl),
  readLink: (token) => blobs.readLink(token),
  close: () => blobs.close(),
});
