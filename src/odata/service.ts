// One request to the entity-model interface, from its address to the bytes of its answer.
import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import type { RequestContext } from "../context.ts";
import { fail } from "../errors.ts";
import { BufferPool } from "../lib/buffer-pool.ts";
import { BufferWriter } from "../lib/buffer-writer.ts";
import { bytesOrStream } from "../lib/streams.ts";
import type { LengthBound } from "../query/length-bound.ts";
import { readWithin } from "../query/read-within.ts";
import { writeRuns } from "./columns.ts";
import { csdlJson } from "./csdl-json.ts";
import { csdlXml } from "./csdl-xml.ts";
import { type Entity, expandFitting } from "./expand.ts";
import { insertInto, type ReceiveJson, receiveEntity, takesInserts } from "./insert.ts";
import { entityAddress, Links } from "./links.ts";
import type { Model, Property, Row } from "./model.ts";
import {
  checkVersions,
  contentTypeOf,
  formatOf,
  type Headers,
  metadataFormatOf,
  preferencesOf,
} from "./negotiate.ts";
import { addressOf, type Collection, type One, type Place, placeOf, readOne } from "./place.ts";
import { collectionQuestion, filterOfOptions, readCollection, refuseForeignOptions } from "./read.ts";
import { needsOf, type Shape, shapeOf } from "./shape.ts";
import { readTarget, type Target } from "./target.ts";
import { countJson, type Layout, layoutOf, type Writing, writeEntity } from "./write-entity.ts";
import { plainText, writeValue } from "./write-value.ts";

export interface ODataRequest {
  readonly method: string;
  /** What follows the root in the request line, as it was sent. */
  readonly rest: string;
  /** The absolute address of the service, without a slash at its end. */
  readonly root: string;
  readonly headers: Headers;
  readonly receiveJson: ReceiveJson;
}

export interface ODataResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Instead of `body`, of what is long. */
  readonly stream?: Readable;
  /** To be called when nobody needs the body any more. */
  readonly release?: () => void;
}

export type ODataService = (ctx: RequestContext, request: ODataRequest) => Promise<ODataResponse>;

/** Everything that one request is answered with. */
interface Answering {
  readonly ctx: RequestContext;
  readonly model: Model;
  readonly request: ODataRequest;
  readonly target: Target;
  readonly links: Links;
}

/** The service of a model. It checks a request in a fixed order (docs/reference/odata.md#order-of-checks). */
export function odataService(model: Model): ODataService {
  const documents = metadataDocuments(model);
  return async (ctx, request) => {
    checkVersions(request.headers);
    const target = readTarget(request.rest);
    const answering = { ctx, model, request, target, links: new Links(ctx, request.root, target) };
    const place = await placeOf({ ctx, model, aliases: target.aliases }, target.segments);
    const insertable = place.kind === "collection" && takesInserts(place) ? place : undefined;
    checkMethod(request, target, insertable);
    if (request.method === "POST") {
      answering.ctx.disk.requireRoom();
      return insertAnswer(answering, insertable!);
    }
    const answer = place.kind === "metadata" ? documents(request, target) : await answerAt(answering, place);
    return { ...answer, headers: { "OData-Version": "4.0", ...answer.headers } };
  };
}

function checkMethod(
  { method }: ODataRequest,
  { resource }: Target,
  insertable: Collection | undefined,
): void {
  const allowed = ["GET", "HEAD", ...(insertable ? ["POST"] : [])];
  if (!allowed.includes(method)) throw fail("method-not-allowed", { method, path: resource || "/", allowed });
}

/** 201 with the entity, or 204 when the client has no use for it. */
async function insertAnswer(answering: Answering, of: Collection): Promise<ODataResponse> {
  const { ctx, model, request, target, links } = answering;
  refuseForeignOptions(target);
  const writing = writingFor(answering);
  const shape = shapeOf({ ctx, model, aliases: target.aliases }, of.set, new Map());
  const body = await receiveEntity(of, request.headers, request.receiveJson);
  const row = await insertInto({ ctx, model }, of, body);
  const { answer } = preferencesOf(request.headers);
  const address = addressOf(of, row);
  const location = `${links.root}/${of.container ? address : entityAddress(shape, row)}`;
  const headers = {
    ...{ "OData-Version": "4.0", Location: location },
    ...(answer && { "Preference-Applied": `return=${answer}` }),
  };
  if (answer === "minimal") return { status: 204, headers: { ...headers, "OData-EntityId": location } };
  const entity = await expandOne(ctx, row, shape);
  const layout = layoutOf(writing, shape, contextMember(writing, `${of.address}/$entity`));
  return written(
    ctx,
    { ...headers, "Content-Type": writing.contentType },
    (sheet) => writeEntity(sheet, layout, entity),
    201,
  );
}

function answerAt(answering: Answering, place: Exclude<Place, { kind: "metadata" }>) {
  refuseForeignOptions(answering.target);
  switch (place.kind) {
    case "collection":
      return collectionAnswer(answering, place);
    case "entity":
      return entityAnswer(answering, place);
    case "count":
      return countAnswer(answering, place.of);
    case "stream":
      return streamAnswer(answering, place.of);
    case "property":
      return propertyAnswer(answering, place);
    default:
      return serviceDocument(answering);
  }
}

/** Both documents are made once; clients ask whether theirs is still good. */
function metadataDocuments(model: Model) {
  const texts = { xml: csdlXml(model), json: JSON.stringify(csdlJson(model)) };
  const tagOf = (text: string) => `"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"`;
  return ({ headers }: ODataRequest, { options }: Target): ODataResponse => {
    const format = metadataFormatOf(headers, options.get("$format"));
    const ETag = tagOf(texts[format]);
    if (headers["if-none-match"] === ETag) return { status: 304, headers: { ETag } };
    return { status: 200, headers: { "Content-Type": `application/${format}`, ETag }, body: texts[format] };
  };
}

function formatFor({ request, target }: Answering) {
  return formatOf(request.headers, target.options.get("$format"));
}

function writingFor(answering: Answering): Writing & { readonly contentType: string } {
  const { model, links } = answering;
  const format = formatFor(answering);
  return { model, links, format, contentType: contentTypeOf(format) };
}

const contextMember = ({ format, links }: Writing, fragment: string): string =>
  format.level === "none" ? "" : `"@odata.context":${JSON.stringify(links.context(fragment))},`;

async function collectionAnswer(answering: Answering, of: Collection): Promise<ODataResponse> {
  const { ctx, request } = answering;
  const writing = writingFor(answering);
  const { pageSize } = preferencesOf(request.headers);
  const question = collectionQuestion({ ...answering, pageAsked: pageSize }, of);
  const isPlain = writing.format.level !== "full";
  const { content, count, next } = await readCollection(ctx, of, { ...question, isPlain });
  const head = [
    `{${contextMember(writing, (of.context ?? of.address) + question.shape.fragment)}`,
    ...(count === undefined ? [] : [`"@odata.count":${countJson(count, writing.format)},`]),
    '"value":[',
  ];
  const link = next === undefined ? "" : `,"@odata.nextLink":${JSON.stringify(writing.links.next(next))}`;
  const applied: Readonly<Record<string, string>> =
    pageSize === undefined ? {} : { "Preference-Applied": `odata.maxpagesize=${pageSize}` };
  const headers = { "Content-Type": writing.contentType, ...applied };
  const texts = { head: head.join(""), tail: `]${link}}` };
  const { shape } = question;
  if ("items" in content)
    return entitiesAnswer(ctx, headers, texts, { ...content, layout: layoutOf(writing, shape) });
  return written(ctx, headers, (sheet) => {
    sheet.string(texts.head);
    const names = shape.properties.map(({ name }) => name);
    writeRuns(sheet, content.runs, names);
    sheet.string(texts.tail);
  });
}

const sheetBytes = 2 * 1024 * 1024;
/** The buffers of responses; most pages fit in one. */
export const pageBuffers = (): BufferPool =>
  new BufferPool({ bytesMin: sheetBytes, idleBytesMax: 4 * sheetBytes });
/** A sheet is full when an entity of usual size might not fit any more. */
const fullBytes = sheetBytes - 256 * 1024;

interface Entries {
  readonly items: readonly Entity[];
  readonly layout: Layout;
}

/** A page of entities, as a stream of sheets if one is not enough. */
async function entitiesAnswer(
  { responseBuffers }: RequestContext,
  headers: ODataResponse["headers"],
  { head, tail }: { readonly head: string; readonly tail: string },
  { items, layout }: Entries,
): Promise<ODataResponse> {
  const sheet = new BufferWriter(responseBuffers.odata);
  async function* pieces(): AsyncGenerator<Buffer> {
    sheet.string(head);
    for (let at = 0; at < items.length; at++) {
      if (sheet.at >= fullBytes) yield sheet.takeWritten();
      if (at > 0) sheet.string(",");
      writeEntity(sheet, layout, items[at]!);
    }
    sheet.string(tail);
    yield sheet.takeWritten();
  }
  const made = await bytesOrStream(pieces(), sheetBytes);
  const content = "bytes" in made ? { body: made.bytes } : made;
  return { status: 200, headers, ...content, release: () => sheet.release() };
}

/** An answer written on a sheet, which is used again once that is sent. */
function written(
  { responseBuffers }: RequestContext,
  headers: ODataResponse["headers"],
  write: (sheet: BufferWriter) => void,
  status = 200,
): ODataResponse {
  const sheet = new BufferWriter(responseBuffers.odata);
  write(sheet);
  return { status, headers, body: sheet.takeWritten(), release: () => sheet.release() };
}

async function entityAnswer(answering: Answering, place: One): Promise<ODataResponse> {
  const { ctx, model, target } = answering;
  const writing = writingFor(answering);
  refuseOptions(target, ["$filter", "$top", "$count", "$skiptoken"]);
  const { set, address } = place.of;
  const shape = shapeOf({ ctx, model, aliases: target.aliases }, set, target.options);
  const row = await readOne(ctx, place, needsOf(shape));
  if (!row) return { status: 204, headers: {} };
  const entity = await expandOne(ctx, row, shape);
  const context = contextMember(writing, `${address}${shape.fragment}/$entity`);
  const layout = layoutOf(writing, shape, context);
  const headers = { "Content-Type": writing.contentType, ...(place.of.type.stream && noStore) };
  return written(ctx, headers, (sheet) => writeEntity(sheet, layout, entity));
}

async function expandOne(ctx: RequestContext, row: Row, shape: Shape): Promise<Entity> {
  const expand = (bound: LengthBound) => expandFitting(ctx, [row], { shape, bound });
  const [entity] = await readWithin(ctx.memory, expand);
  return entity!;
}

/** What the options of collections are for. */
function refuseOptions({ options }: Target, names: readonly string[]): void {
  for (const option of names)
    if (options.has(option))
      throw fail("query-option-invalid", { option, problem: "it applies to collections alone" });
}

async function countAnswer(answering: Answering, of: Collection): Promise<ODataResponse> {
  const count = await of.count(answering.ctx, filterOfOptions(answering, of));
  return { status: 200, headers: { "Content-Type": "text/plain" }, body: String(count) };
}

/** Links to bytes expire. */
const noStore = { "Cache-Control": "no-store" };

/** Sends the client where the bytes are. */
async function streamAnswer({ ctx }: Answering, of: One): Promise<ODataResponse> {
  const row = await readOne(ctx, { missing: "There are no bytes yet", ...of }, new Set());
  const { url } = of.of.type.stream!(row!);
  return { status: 302, headers: { Location: url, ...noStore } };
}

async function propertyAnswer(
  answering: Answering,
  { row, property, member, address, isRaw }: Place & { kind: "property" },
): Promise<ODataResponse> {
  refuseOptions(answering.target, ["$filter", "$top", "$count", "$select", "$expand", "$skiptoken"]);
  const held = property.get(row);
  const value = member === undefined ? held : (held as Row)[member];
  if (value === undefined || value === null) return { status: 204, headers: {} };
  const shown = member === undefined ? property : memberOf(property, value);
  if (isRaw) {
    const headers = { "Content-Type": "text/plain;charset=utf-8" };
    return { status: 200, headers, body: plainText(shown, value) };
  }
  const { ctx } = answering;
  const writing = writingFor(answering);
  const isObject = !shown.type.startsWith("Edm.");
  const context = contextMember(writing, address);
  return written(ctx, { "Content-Type": writing.contentType }, (sheet) => {
    sheet.string(isObject ? "" : `{${context}"value":`);
    writeValue(sheet, value, shown, writing.format);
    if (!isObject) return sheet.string("}");
    // The members of an open object stand beside the context.
    const object = sheet.takeWritten().toString();
    sheet.string(`{${context}${object.slice(1)}`.replace(/,\}$/, "}"));
  });
}

/** A member of open data as a property of its own. */
function memberOf(property: Property, value: unknown): Property {
  if (typeof value === "number") return { ...property, type: "Edm.Double" };
  if (typeof value === "boolean") return { ...property, type: "Edm.Boolean" };
  if (typeof value === "object" && !Array.isArray(value)) return property;
  return { ...property, type: "Edm.String" };
}

async function serviceDocument(answering: Answering): Promise<ODataResponse> {
  const { model } = answering;
  const writing = writingFor(answering);
  const sets = [...model.sets.values()].filter(({ isHidden }) => !isHidden).map(({ name }) => name);
  const functions = [...model.functions.values()].filter(({ parameters }) => parameters.length === 0);
  const value = [
    ...sets.map((name) => ({ name, kind: "EntitySet", url: name })),
    ...functions.map(({ name }) => ({ name, kind: "FunctionImport", url: name })),
  ];
  const body = `{${contextMember(writing, "")}"value":${JSON.stringify(value)}}`;
  return { status: 200, headers: { "Content-Type": writing.contentType }, body };
}
