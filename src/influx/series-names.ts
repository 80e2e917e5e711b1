// A cache from the bytes of measurement, tags and field to the name of a series.
//
// An entry depends on the bytes and the template only, so no change of series, assets or rights makes it out
// of date: names are resolved to ids in each request, by the cache of series. When the entries reach
// `limits.influxNamesBytesMax`, all are dropped before the next slice of lines.
import { LruCache } from "../lib/lru-cache.ts";
import { compareText } from "../lib/text.ts";
import { textOf } from "../lib/utf8.ts";
import { limits } from "../limits.ts";
import { LineKernel, type RecordPlace } from "./line-kernel.ts";
import type { LineSeries, NameTemplate } from "./name-template.ts";

const code = (character: string): number => character.charCodeAt(0);
const [comma, equals, space, backslash] = [code(","), code("="), code(" "), code("\\")];

/** The memory of an entry besides its bytes, with its records in the kernel. */
const entryBytes = 600;
/** The kernel knows slices by numbers of 32 bits. */
const slicesMax = 2 ** 32 - 1;

/** Heads with one hash; more would make a search long. */
const sameHashMax = 4;

/** One field of one measurement with its tags. */
export class SeriesName implements LineSeries {
  readonly head: HeadNames;
  readonly field: string;
  readonly name: string;
  /** Why no series can have it. */
  readonly problem: string | undefined;
  /** The bytes of the field's key. */
  readonly key: Buffer;
  /** Its record in the kernel. */
  readonly place: RecordPlace;
  /** The records of the field as the first one of a line, and as a later one. */
  readonly #fieldPlaces: { first?: RecordPlace; later?: RecordPlace } = {};

  constructor(head: HeadNames, key: Buffer, { field, problem, name, place }: PlacedField) {
    this.head = head;
    this.key = key;
    this.place = place;
    this.field = field;
    this.name = name;
    this.problem = problem;
  }

  get measurement(): string {
    return this.head.measurement;
  }

  get tags(): LineSeries["tags"] {
    return this.head.tags;
  }

  /** The record of the field at this position of a line. */
  placeAt(position: number, kernel: LineKernel): RecordPlace {
    const before = position === 0 ? [this.head.bytes, Buffer.from(" ")] : [Buffer.from(",")];
    const which = position === 0 ? "first" : "later";
    const added = () => kernel.addField(this.place, Buffer.concat([...before, this.key, Buffer.from("=")]));
    this.#fieldPlaces[which] ??= added();
    return this.#fieldPlaces[which];
  }
}

/** The series of a slice, by their numbers. */
export class NameList {
  readonly names: readonly SeriesName[];
  /** The names of the series. The same slices have the same array. */
  readonly keys: readonly string[];
  #firsts: Uint32Array | undefined;
  #isSearched = false;

  constructor(names: readonly SeriesName[]) {
    this.names = names;
    this.keys = names.map(({ name }) => name);
  }

  /**
   * By number: the first number of the same series. Undefined if all series differ; a template can give one
   * name to several fields and tags. It is searched once, because most slices are repeated.
   */
  get firsts(): Uint32Array | undefined {
    if (!this.#isSearched) this.#firsts = firstsOf(this.keys);
    this.#isSearched = true;
    return this.#firsts;
  }
}

function firstsOf(keys: readonly string[]): Uint32Array | undefined {
  if (new Set(keys).size === keys.length) return undefined;
  const firsts = new Map<string, number>();
  for (const [number, key] of keys.entries()) if (!firsts.has(key)) firsts.set(key, number);
  return Uint32Array.from(keys, (key) => firsts.get(key)!);
}

interface PlacedField extends NamedField {
  readonly place: RecordPlace;
}

interface NamedField {
  readonly field: string;
  readonly name: string;
  readonly problem?: string | undefined;
}

/** Measurement and tags: the part of a line before its first blank. */
export class HeadNames {
  readonly bytes: Buffer;
  readonly measurement: string;
  readonly tags: LineSeries["tags"];
  /** Its record in the kernel. */
  readonly place: RecordPlace;
  readonly #kernel: LineKernel;
  /** The fields of the last lines, by their position in the line. */
  readonly #fields: SeriesName[] = [];
  #isChanged = false;
  /** The head of the line that followed it last. */
  #next: HeadNames | undefined;
  readonly byKey = new Map<string, SeriesName>();

  constructor(
    bytes: Buffer,
    { measurement, tags }: Pick<LineSeries, "measurement" | "tags">,
    kernel: LineKernel,
  ) {
    this.bytes = bytes;
    this.measurement = measurement;
    this.tags = tags;
    this.#kernel = kernel;
    this.place = kernel.addHead();
  }

  get next(): HeadNames | undefined {
    return this.#next;
  }

  set next(head: HeadNames) {
    this.#next = head;
    this.#kernel.linkHeads(this.place, head.place);
  }

  fieldAt(position: number): SeriesName | undefined {
    return this.#fields[position];
  }

  setField(position: number, name: SeriesName): void {
    this.#fields[position] = name;
    this.#isChanged = true;
  }

  /** Call after a whole line with so many fields. */
  endLine(count: number): void {
    if (!this.#isChanged && this.#fields.length === count) return;
    this.#isChanged = false;
    this.#fields.length = count;
    this.#kernel.linkFields(
      this.place,
      this.#fields.map((field, position) => field.placeAt(position, this.#kernel)),
    );
  }
}

/** The template of the names, which depend on the database if the template names it. */
export interface NameScope {
  readonly template: NameTemplate;
  readonly db: string;
}

/** The names of one template. Their records are in one kernel, so a table is used for one slice at a time. */
export interface NameTable extends NameScope {
  readonly heads: Map<number, HeadNames[]>;
}

/** A part of a body that is scanned without a pause. */
export interface Slice {
  readonly number: number;
  readonly kernel: LineKernel;
  readonly table: NameTable;
}

/** A part of a body. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** One for each server. */
export class SeriesNames {
  readonly #tables = new Map<string, NameTable>();
  #kernel = new LineKernel();
  /** All series, by their indexes. */
  #names: SeriesName[] = [];
  readonly #heads = new Map<RecordPlace, HeadNames>();
  /** The lists of slices that are likely to be repeated, by their first index. */
  #lists = new LruCache<number, IndexedList>(limits.lineListsMax);
  #bytes = 0;
  #slices = 0;
  readonly #bytesMax: number;
  /** How many entries were made since the start. */
  made = 0;

  constructor(bytesMax: number = limits.influxNamesBytesMax) {
    this.#bytesMax = bytesMax;
  }

  /**
   * A slice, with a number that the kernel has not had. Drops all entries if they take too much memory, so
   * that those of one slice belong together.
   */
  nextSlice({ template, db }: NameScope): Slice {
    if (this.#bytes > this.#bytesMax || this.#slices === slicesMax) this.#dropAll();
    this.#slices += 1;
    return { number: this.#slices, kernel: this.#kernel, table: this.#table(template, db) };
  }

  /** The head with this record. */
  headAt(place: RecordPlace): HeadNames {
    return this.#heads.get(place)!;
  }

  /** The series with these indexes. */
  listOf(indexes: Uint32Array): NameList {
    const existing = indexes.length > 0 ? this.#lists.get(indexes[0]!) : undefined;
    if (existing && isSameList(existing.indexes, indexes)) return existing.list;
    const list = new NameList(Array.from(indexes, (index) => this.#names[index]!));
    if (indexes.length > 0 && indexes.length <= limits.writePlanSeriesMax)
      this.#lists.set(indexes[0]!, { list, indexes: indexes.slice() });
    return list;
  }

  #table(template: NameTemplate, db: string): NameTable {
    const key = `${template.text}\n${template.usesDb ? db : ""}`;
    const existing = this.#tables.get(key);
    if (existing) return existing;
    const created: NameTable = { template, db, heads: new Map() };
    this.#reserve(2 * key.length);
    this.#tables.set(key, created);
    return created;
  }

  /** Counts the memory of an entry. */
  #reserve(bytes: number): void {
    this.made += 1;
    this.#bytes += bytes + entryBytes;
  }

  #dropAll(): void {
    this.#tables.clear();
    this.#kernel = new LineKernel();
    this.#names = [];
    this.#heads.clear();
    this.#lists = new LruCache(limits.lineListsMax);
    this.#bytes = 0;
    this.#slices = 0;
  }

  /** The head with these bytes, or why it is not valid; `hash` is any hash of them. */
  head(table: NameTable, bytes: Buffer, { from, to }: Span, hash: number): HeadNames | string {
    const sameHash = table.heads.get(hash);
    const existing = sameHash?.find((one) => isAt(bytes, from, to, one.bytes));
    if (existing) return existing;
    const parsed = parseHead(bytes, { from, to });
    if (typeof parsed === "string") return parsed;
    const created = new HeadNames(Buffer.from(bytes.subarray(from, to)), parsed, this.#kernel);
    this.#reserve(4 * (to - from));
    this.#heads.set(created.place, created);
    table.heads.set(hash, [created, ...(sameHash ?? [])].slice(0, sameHashMax));
    return created;
  }

  /** The series of a field of this head, or why the field is not valid. */
  field(table: NameTable, head: HeadNames, bytes: Buffer, { from, to }: Span): SeriesName | string {
    const key = bytes.toString("latin1", from, to);
    const existing = head.byKey.get(key);
    if (existing) return existing;
    const field = unescaped(bytes, { from, to });
    if (field === undefined) return "the field key is not UTF-8";
    if (field === "") return "missing field key";
    if (field === "time") return "invalid field name: time is the time of the point";
    const named = nameOf(table, { ...head, measurement: head.measurement, field });
    const place = this.#kernel.addName(this.#names.length);
    const created = new SeriesName(head, Buffer.from(bytes.subarray(from, to)), { ...named, place });
    this.#names.push(created);
    this.#reserve(head.bytes.length + 4 * (to - from) + 2 * named.name.length);
    if (head.byKey.size >= limits.influxFieldsPerLineMax) head.byKey.clear();
    head.byKey.set(key, created);
    return created;
  }
}

interface IndexedList {
  readonly list: NameList;
  readonly indexes: Uint32Array;
}

function isSameList(one: Uint32Array, other: Uint32Array): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at += 1) if (one[at] !== other[at]) return false;
  return true;
}

/** Whether the bytes from `from` to `to` are those of `expected`. */
function isAt(bytes: Buffer, from: number, to: number, expected: Buffer): boolean {
  return to - from === expected.length && expected.compare(bytes, from, to) === 0;
}

function nameOf({ template, db }: NameTable, series: LineSeries): NamedField {
  const { field } = series;
  const name = template.nameOf(series, db);
  if (name === undefined)
    return { field, name: "", problem: `a tag of the template ${template.text} is absent` };
  return { field, name, problem: problemOfName(name) ?? problemOfMetadata(series) };
}

function problemOfName(name: string): string | undefined {
  const { nameLengthMax } = limits;
  if (name === "") return "the name of the series is empty";
  if (name.includes("\0")) return "the name of the series has U+0000";
  if (name.length <= nameLengthMax) return undefined;
  return `the name of the series has ${name.length} characters; at most ${nameLengthMax} are possible`;
}

/** The measurement and the field are in metadata beside the tags, under the names that Flux has for them. */
const reservedKeys = { measurement: "_measurement", field: "_field" } as const;

/** Tags, measurement and field as the metadata of a series. */
export const metadataOf = ({ measurement, tags, field }: LineSeries): Record<string, string> => ({
  ...Object.fromEntries(tags),
  [reservedKeys.measurement]: measurement,
  [reservedKeys.field]: field,
});

function problemOfMetadata(series: LineSeries): string | undefined {
  const { metadataPairsMax, metadataKeyLengthMax, metadataLengthMax } = limits;
  const pairs = Object.entries(metadataOf(series));
  if (pairs.length > metadataPairsMax) return `more than ${metadataPairsMax - 2} tags`;
  const long = pairs.find(([key]) => key.length > metadataKeyLengthMax);
  if (long) return `a tag key of ${long[0].length} characters; at most ${metadataKeyLengthMax} are possible`;
  const length = pairs.reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  if (length > metadataLengthMax)
    return `tags of ${length} characters; at most ${metadataLengthMax} are possible`;
  return undefined;
}

function parseHead(bytes: Buffer, { from, to }: Span): Pick<LineSeries, "measurement" | "tags"> | string {
  if (to - from > limits.influxKeyBytesMax)
    return `measurement and tags have ${to - from} bytes; at most ${limits.influxKeyBytesMax} are possible`;
  if (textOf(bytes, from, to) === undefined) return "measurement and tags are not UTF-8";
  if (bytes.subarray(from, to).includes(0)) return "measurement and tags have U+0000";
  const measurementEnd = endOf(bytes, { from, to }, comma);
  const measurement = unescaped(bytes, { from, to: measurementEnd })!;
  if (measurement === "") return "missing measurement";
  const tags: [string, string][] = [];
  for (let at = measurementEnd; at < to; ) {
    const end = endOf(bytes, { from: at + 1, to }, comma);
    const tag = parseTag(bytes, { from: at + 1, to: end });
    if (typeof tag === "string") return tag;
    tags.push(tag);
    at = end;
  }
  tags.sort(([a], [b]) => compareText(a, b));
  const repeated = tags.find(([key], i) => key === tags[i + 1]?.[0]);
  return repeated ? `duplicate tag ${repeated[0]}` : { measurement, tags };
}

const reservedTags: readonly string[] = ["time", ...Object.values(reservedKeys)];

function parseTag(bytes: Buffer, { from, to }: Span): [string, string] | string {
  const keyEnd = endOf(bytes, { from, to }, equals);
  const key = unescaped(bytes, { from, to: keyEnd })!;
  if (key === "") return "missing tag key";
  if (keyEnd >= to - 1) return "missing tag value";
  if (endOf(bytes, { from: keyEnd + 1, to }, equals) < to) return "invalid tag format: an unescaped =";
  if (reservedTags.includes(key)) return `invalid tag key: ${key} is reserved`;
  return [key, unescaped(bytes, { from: keyEnd + 1, to })!];
}

/** Whether a backslash before this byte is an escape. */
export const isEscapable = (byte: number | undefined): boolean =>
  byte === comma || byte === equals || byte === space;

/** The first unescaped `stop`, or the end. */
function endOf(bytes: Buffer, { from, to }: Span, stop: number): number {
  let at = from;
  while (at < to && bytes[at] !== stop) at += bytes[at] === backslash && isEscapable(bytes[at + 1]) ? 2 : 1;
  return Math.min(at, to);
}

/** The string of these bytes without escapes; undefined if they are not UTF-8. */
const unescaped = (bytes: Buffer, { from, to }: Span): string | undefined =>
  textOf(bytes, from, to)?.replaceAll(/\\([,= ])/g, "$1");
