// The stores with a span for each call.
import type { Attributes } from "@opentelemetry/api";
import type { DataStores } from "../data-stores.ts";
import type { BlobStore } from "../storage/blobs.ts";
import type { Catalog } from "../storage/catalog.ts";
import type { PointsStore } from "../storage/points.ts";

/** Runs the work in a span of this name. */
export type InSpan = <Result>(
  name: string,
  attributes: Attributes,
  work: () => Promise<Result>,
) => Promise<Result>;

export const traceStores = ({ catalog, points, blobs }: DataStores, inSpan: InSpan): DataStores => ({
  catalog: tracedCatalog(catalog, inSpan),
  points: tracedPoints(points, inSpan),
  blobs: tracedBlobs(blobs, inSpan),
});

/** The members of a shared catalog stay. */
const tracedCatalog = (catalog: Catalog, inSpan: InSpan): Catalog => ({
  ...catalog,
  read: (tenant, work) => inSpan("catalog read", {}, () => catalog.read(tenant, work)),
  write: (tenant, work) => inSpan("catalog write", {}, () => catalog.write(tenant, work)),
  writeBoth: (project, work) => inSpan("catalog write", {}, () => catalog.writeBoth(project, work)),
});

const tracedPoints = (points: PointsStore, inSpan: InSpan): PointsStore => ({
  scanPoints: points.scanPoints,
  append(batch) {
    const count = (batch.numbers?.times.length ?? 0) + (batch.strings?.times.length ?? 0);
    return inSpan("points append", { "millrace.points": count }, () => points.append(batch));
  },
  scan: (query) => inSpan("points scan", { "millrace.limit": query.limit }, () => points.scan(query)),
  aggregate(query) {
    const attributes = { "millrace.bucket_ms": query.bucketMs, "millrace.aggregates": [...query.aggregates] };
    return inSpan("points aggregate", attributes, () => points.aggregate(query));
  },
  latest: (series, beforeMs) =>
    inSpan("points latest", { "millrace.series": series.length }, () => points.latest(series, beforeMs)),
  delete: (series, range) => inSpan("points delete", {}, () => points.delete(series, range)),
  oldPoints: (series, blocksMax) =>
    inSpan("points old", { "millrace.series": series.length }, () => points.oldPoints(series, blocksMax)),
  stats: () => inSpan("points stats", {}, () => points.stats()),
  close: () => points.close(),
});

const tracedBlobs = (blobs: BlobStore, inSpan: InSpan): BlobStore => ({
  put: (part) => inSpan("files put", {}, () => blobs.put(part)),
  complete: (key) => inSpan("files complete", {}, () => blobs.complete(key)),
  open: (key, range) => inSpan("files open", {}, () => blobs.open(key, range)),
  stat: (key) => inSpan("files stat", {}, () => blobs.stat(key)),
  check: () => inSpan("files check", {}, () => blobs.check()),
  remove: (key) => inSpan("files remove", {}, () => blobs.remove(key)),
  link: (link, baseUrl) => blobs.link(link, baseUrl),
  readLink: (token) => blobs.readLink(token),
  close: () => blobs.close(),
});
