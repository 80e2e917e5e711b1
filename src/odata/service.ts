// Handles one OData request, from its URL to the bytes of the response.
import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import type { RequestContext } from "../context.ts";
import { fail } from "../errors.ts";
import { BufferPool } from "../lib/buffer-pool.ts";
import { type BufferWriter, withWriter } from "../lib/buffer-writer.ts";
import { bytesOrStream } from "../lib/streams.ts";
import type { LengthBound } from "../query/length-bound.ts";
import { readWithin } from "../query/read-within.ts";
import { csdlJson } from "./csdl-json.ts";
import { csdlXml } from "./csdl-xml.ts";
import { type Entity, expandFitting } from "./expand.ts";
import { insertEntity, isInsertable, type ReadJsonBody, readEntityBody } from "./insert.ts";
import { entityPath, Links } from "./links.ts";
import { type EntityModel, type EntityRecord, isOpenComplex, type Property } from "./model.ts";
import {
  checkVersions,
  contentTypeOf,
  formatOf,
  metadataFormatOf,
  preferencesOf,
  type RequestHeaders,
} from "./negotiate.ts";
import { neededNames, type Projection, readProjection } from "./projection.ts";
import { collectionFilter, readCollection, readCollectionQuery, refuseUnsupportedOptions } from "./read.ts";
import { parseRequestUrl, type RequestUrl } from "./request-url.ts";
import {
  type EntityCollection,
  type EntityRef,
  pathByKey,
  type ResolvedPath,
  readEntity,
  resolvePath,
} from "./resolve-path.ts";
import { writeBatches } from "./write-columns.ts";
import { countJson, type EntityLayout, layoutOf, type WriteContext, writeEntity } from "./write-entity.ts";
import { plainText, writeValue } from "./write-value.ts";

export interface ODataRequest {
  readonly method: string;
  /** The request URL after the root of the service, as sent. */
  readonly rest: string;
  /** The absolute URL of the service, without a trailing slash. */
  readonly root: string;
  readonly headers: RequestHeaders;
  readonly readJsonBody: ReadJsonBody;
}

export interface ODataResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Replaces `body` in long responses. */
  readonly stream?: Readable;
  /** Frees the buffers of the body; call it when the body is sent or the client is gone. */
  readonly release?: () => void;
}

export type ODataService = (ctx: RequestContext, request: ODataRequest) => Promise<ODataResponse>;

/** A request with everything needed to respond. */
interface ServiceCall {
  readonly ctx: RequestContext;
  readonly model: EntityModel;
  readonly request: ODataRequest;
  readonly url: RequestUrl;
  readonly links: Links;
}

/**
 * Builds the service of a model. It checks requests in a fixed order
 * (docs/reference/odata.md#order-of-checks).
 */
export function odataService(model: EntityModel): ODataService {
  const documents = metadataDocuments(model);
  return async (ctx, request) => {
    checkVersions(request.headers);
    const url = parseRequestUrl(request.rest);
    const call = { ctx, model, request, url, links: new Links(ctx, request.root, url) };
    const resolved = await resolvePath({ ctx, model, aliases: url.aliases }, url.segments);
    const insertable = resolved.kind === "collection" && isInsertable(resolved) ? resolved : undefined;
    checkMethod(request, url, insertable);
    if (request.method === "POST") {
      call.ctx.disk.requireSpace();
      return insertResponse(call, insertable!);
    }
    const answer = resolved.kind === "metadata" ? documents(request, url) : await responseAt(call, resolved);
    return { ...answer, headers: { "OData-Version": "4.0", ...answer.headers } };
  };
}

function checkMethod(
  { method }: ODataRequest,
  { decodedPath: resource }: RequestUrl,
  insertable: EntityCollection | undefined,
): void {
  const allowed = ["GET", "HEAD", ...(insertable ? ["POST"] : [])];
  if (!allowed.includes(method)) throw fail("method-not-allowed", { method, path: resource || "/", allowed });
}

/** Returns 201 with the entity, or 204 if the client prefers no content. */
async function insertResponse(call: ServiceCall, of: EntityCollection): Promise<ODataResponse> {
  const { ctx, model, request, url, links } = call;
  refuseUnsupportedOptions(url);
  const context = writeContextOf(call);
  const projection = readProjection({ ctx, model, aliases: url.aliases }, of.set, new Map());
  const body = await readEntityBody(of, request.headers, request.readJsonBody);
  const row = await insertEntity({ ctx, model }, of, body);
  const { returned } = preferencesOf(request.headers);
  const address = pathByKey(of, row);
  const location = `${links.root}/${of.container ? address : entityPath(projection, row)}`;
  const headers = {
    ...{ "OData-Version": "4.0", Location: location },
    ...(returned && { "Preference-Applied": `return=${returned}` }),
  };
  if (returned === "minimal") return { status: 204, headers: { ...headers, "OData-EntityId": location } };
  const entity = await expandEntity(ctx, row, projection);
  const layout = layoutOf(context, projection, contextMember(context, `${of.path}/$entity`));
  return bufferedResponse(
    ctx,
    { ...headers, "Content-Type": context.contentType },
    (writer) => writeEntity(writer, layout, entity),
    201,
  );
}

function responseAt(call: ServiceCall, resolved: Exclude<ResolvedPath, { kind: "metadata" }>) {
  refuseUnsupportedOptions(call.url);
  switch (resolved.kind) {
    case "collection":
      return collectionResponse(call, resolved);
    case "entity":
      return entityResponse(call, resolved);
    case "count":
      return countResponse(call, resolved.of);
    case "stream":
      return streamResponse(call, resolved.of);
    case "property":
      return propertyResponse(call, resolved);
    default:
      return serviceDocument(call);
  }
}

/** Both documents are built once. ETags let clients revalidate their copies. */
function metadataDocuments(model: EntityModel) {
  const texts = { xml: csdlXml(model), json: JSON.stringify(csdlJson(model)) };
  const tagOf = (text: string) => `"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"`;
  return ({ headers }: ODataRequest, { options }: RequestUrl): ODataResponse => {
    const format = metadataFormatOf(headers, options.get("$format"));
    const ETag = tagOf(texts[format]);
    if (headers["if-none-match"] === ETag) return { status: 304, headers: { ETag } };
    return { status: 200, headers: { "Content-Type": `application/${format}`, ETag }, body: texts[format] };
  };
}

function formatFor({ request, url }: ServiceCall) {
  return formatOf(request.headers, url.options.get("$format"));
}

function writeContextOf(call: ServiceCall): WriteContext & { readonly contentType: string } {
  const { model, links } = call;
  const format = formatFor(call);
  return { model, links, format, contentType: contentTypeOf(format) };
}

const contextMember = ({ format, links }: WriteContext, fragment: string): string =>
  format.level === "none" ? "" : `"@odata.context":${JSON.stringify(links.context(fragment))},`;

async function collectionResponse(call: ServiceCall, of: EntityCollection): Promise<ODataResponse> {
  const { ctx, request } = call;
  const context = writeContextOf(call);
  const { pageSize } = preferencesOf(request.headers);
  const query = readCollectionQuery({ ...call, preferredPageSize: pageSize }, of);
  const isPlain = context.format.level !== "full";
  const { content, count, next } = await readCollection(ctx, of, { ...query, isPlain });
  const head = [
    `{${contextMember(context, (of.context ?? of.path) + query.projection.contextFragment)}`,
    ...(count === undefined ? [] : [`"@odata.count":${countJson(count, context.format)},`]),
    '"value":[',
  ];
  const link = next === undefined ? "" : `,"@odata.nextLink":${JSON.stringify(context.links.next(next))}`;
  const applied: Readonly<Record<string, string>> =
    pageSize === undefined ? {} : { "Preference-Applied": `odata.maxpagesize=${pageSize}` };
  const headers = { "Content-Type": context.contentType, ...applied };
  const texts = { head: head.join(""), tail: `]${link}}` };
  const { projection } = query;
  if ("items" in content)
    return entitiesResponse(ctx, headers, texts, { ...content, layout: layoutOf(context, projection) });
  return bufferedResponse(ctx, headers, (writer) => {
    writer.string(texts.head);
    const names = projection.properties.map(({ name }) => name);
    writeBatches(writer, content.runs, names);
    writer.string(texts.tail);
  });
}

const pageBufferBytes = 2 * 1024 * 1024;
/** The pool of buffers for responses; most pages fit in one buffer. */
export const pageBuffers = (): BufferPool =>
  new BufferPool({ bytesMin: pageBufferBytes, idleBytesMax: 4 * pageBufferBytes });
/** A buffer counts as full when an entity of usual size might not fit. */
const fullBytes = pageBufferBytes - 256 * 1024;

interface EntitiesBody {
  readonly items: readonly Entity[];
  readonly layout: EntityLayout;
}

/** A page of entities; if it does not fit in one buffer, a stream of buffers. */
async function entitiesResponse(
  { responseBuffers }: RequestContext,
  headers: ODataResponse["headers"],
  { head, tail }: { readonly head: string; readonly tail: string },
  { items, layout }: EntitiesBody,
): Promise<ODataResponse> {
  async function* chunksOf(writer: BufferWriter): AsyncGenerator<Buffer> {
    writer.string(head);
    for (let at = 0; at < items.length; at++) {
      if (writer.at >= fullBytes) yield writer.takeWritten();
      if (at > 0) writer.string(",");
      writeEntity(writer, layout, items[at]!);
    }
    writer.string(tail);
    yield writer.takeWritten();
  }
  return withWriter(responseBuffers.odata, async (writer) => {
    const made = await bytesOrStream(chunksOf(writer), pageBufferBytes);
    const content = "bytes" in made ? { body: made.bytes } : made;
    return { status: 200, headers, ...content, release: () => writer.release() };
  });
}

/** A response written into a pooled buffer. */
function bufferedResponse(
  { responseBuffers }: RequestContext,
  headers: ODataResponse["headers"],
  write: (writer: BufferWriter) => void,
  status = 200,
): Promise<ODataResponse> {
  return withWriter(responseBuffers.odata, (writer) => {
    write(writer);
    return { status, headers, body: writer.takeWritten(), release: () => writer.release() };
  });
}

async function entityResponse(call: ServiceCall, resolved: EntityRef): Promise<ODataResponse> {
  const { ctx, model, url } = call;
  const context = writeContextOf(call);
  refuseOptions(url, ["$filter", "$top", "$count", "$skiptoken"]);
  const { set, path } = resolved.collection;
  const projection = readProjection({ ctx, model, aliases: url.aliases }, set, url.options);
  const row = await readEntity(ctx, resolved, neededNames(projection));
  if (!row) return { status: 204, headers: {} };
  const entity = await expandEntity(ctx, row, projection);
  const contextJson = contextMember(context, `${path}${projection.contextFragment}/$entity`);
  const layout = layoutOf(context, projection, contextJson);
  const headers = { "Content-Type": context.contentType, ...(resolved.collection.type.stream && noStore) };
  return bufferedResponse(ctx, headers, (writer) => writeEntity(writer, layout, entity));
}

async function expandEntity(ctx: RequestContext, row: EntityRecord, projection: Projection): Promise<Entity> {
  const expand = (bound: LengthBound) => expandFitting(ctx, [row], { projection, bound });
  const [entity] = await readWithin(ctx.memory, expand);
  return entity!;
}

/** Refuses options that apply only to collections. */
function refuseOptions({ options }: RequestUrl, names: readonly string[]): void {
  for (const option of names)
    if (options.has(option))
      throw fail("query-option-invalid", { option, problem: "it applies to collections alone" });
}

async function countResponse(call: ServiceCall, of: EntityCollection): Promise<ODataResponse> {
  const count = await of.count(call.ctx, collectionFilter(call, of));
  return { status: 200, headers: { "Content-Type": "text/plain" }, body: String(count) };
}

/** Links to bytes expire, so caches must not keep them. */
const noStore = { "Cache-Control": "no-store" };

/** Redirects the client to the bytes. */
async function streamResponse({ ctx }: ServiceCall, of: EntityRef): Promise<ODataResponse> {
  const row = await readEntity(ctx, { notFoundProblem: "There are no bytes yet", ...of }, new Set());
  const { url } = of.collection.type.stream!(row!);
  return { status: 302, headers: { Location: url, ...noStore } };
}

async function propertyResponse(
  call: ServiceCall,
  { row, property, member, path, isRaw }: ResolvedPath & { kind: "property" },
): Promise<ODataResponse> {
  refuseOptions(call.url, ["$filter", "$top", "$count", "$select", "$expand", "$skiptoken"]);
  const whole = property.get(row);
  const value = member === undefined ? whole : (whole as EntityRecord)[member];
  if (value === undefined || value === null) return { status: 204, headers: {} };
  const shown = member === undefined ? property : memberOf(property, value);
  if (isRaw) {
    const headers = { "Content-Type": "text/plain;charset=utf-8" };
    return { status: 200, headers, body: plainText(shown, value) };
  }
  const { ctx } = call;
  const context = writeContextOf(call);
  const isObject = isOpenComplex(shown.type);
  const contextJson = contextMember(context, path);
  return bufferedResponse(ctx, { "Content-Type": context.contentType }, (writer) => {
    writer.string(isObject ? "" : `{${contextJson}"value":`);
    writeValue(writer, value, shown, context.format);
    if (!isObject) return writer.string("}");
    // The members of an open object follow the context in one object.
    const object = writer.takeWritten().toString();
    writer.string(`{${contextJson}${object.slice(1)}`.replace(/,\}$/, "}"));
  });
}

/** A member of an open object as a property. */
function memberOf(property: Property, value: unknown): Property {
  if (typeof value === "number") return { ...property, type: "Edm.Double" };
  if (typeof value === "boolean") return { ...property, type: "Edm.Boolean" };
  if (typeof value === "object" && !Array.isArray(value)) return property;
  return { ...property, type: "Edm.String" };
}

async function serviceDocument(call: ServiceCall): Promise<ODataResponse> {
  const { model } = call;
  const context = writeContextOf(call);
  const sets = [...model.sets.values()].filter(({ isHidden }) => !isHidden).map(({ name }) => name);
  const functions = [...model.functions.values()].filter(({ parameters }) => parameters.length === 0);
  const value = [
    ...sets.map((name) => ({ name, kind: "EntitySet", url: name })),
    ...functions.map(({ name }) => ({ name, kind: "FunctionImport", url: name })),
  ];
  const body = `{${contextMember(context, "")}"value":${JSON.stringify(value)}}`;
  return { status: 200, headers: { "Content-Type": context.contentType }, body };
}
