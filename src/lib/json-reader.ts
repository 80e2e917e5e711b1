// Reads JSON from bytes in steps and within bounds: no input blocks the thread or becomes more values than
// the bounds allow. The values are those of `JSON.parse`.
import { invariant } from "./invariant.ts";
import { isHexDigit, isOfNumber, JsonBytes } from "./json-bytes.ts";
import { type KeptNulls, type Members, type PairsPath, put, putStrings } from "./json-members.ts";
import { StringCache } from "./string-cache.ts";

const code = (character: string): number => character.charCodeAt(0);
const quote = code('"');
const backslash = code("\\");
const colon = code(":");
const comma = code(",");
const openBrace = code("{");
const closeBrace = code("}");
const openBracket = code("[");
const closeBracket = code("]");
const space = code(" ");
const smallU = code("u");
const minus = code("-");
const zero = code("0");
const nine = code("9");

/** The bounds of one JSON text. */
export interface JsonBounds {
  /** Elements and members, also those with unknown names. */
  readonly values: number;
  /** Nested arrays and objects. */
  readonly levels: number;
  /** Members of one object, because a large hash table blocks the thread when it grows. */
  readonly members: number;
  /** One string, with its quotes. */
  readonly stringBytes: number;
  /** One object that is stored as text. */
  readonly textBytes: number;
}

export interface JsonReading extends JsonBounds {
  /** Omits members that are null, except those of `keptNulls`. */
  readonly dropsNulls?: boolean;
  readonly keptNulls?: KeptNulls;
  /** Refuses objects with this key. */
  readonly refusedKey?: string;
  /**
   * Objects at this path become a `JsonText` instead of values. `["items", "columns"]` is the member
   * `columns` of each object in the array `items`.
   */
  readonly keptText?: readonly string[];
  /** In objects at these paths, numbers and booleans become strings of their JSON text; null is omitted. */
  readonly pairsPaths?: readonly PairsPath[];
}

/** An object as the client wrote it. It has no members. */
export class JsonText {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  static of(value: unknown): string | undefined {
    return value instanceof JsonText ? value.#text : undefined;
  }
}

/** The input is not JSON. */
export class JsonMalformed extends Error {}

/** The input exceeds the bound named `what`. */
export class JsonTooLarge extends Error {
  readonly what: keyof JsonBounds;

  constructor(what: keyof JsonBounds) {
    super(`too many ${what}`);
    this.what = what;
  }
}

/** The most bytes of a number: twice those that the digits of a double can need. */
const numberBytesMax = 2_048;

type Expected = "value" | "element" | "first-key" | "key" | "colon" | "comma" | "end";

/** An array or object that is not complete yet; `key` is the key of its next member. */
interface Level {
  readonly list: unknown[] | undefined;
  readonly members: Members | undefined;
  key: string;
  keys: number;
  /** In an object of pairs: the JSON text of members that are numbers, booleans or null. */
  texts: Map<string, string> | undefined;
  readonly pairsPath: PairsPath | undefined;
  /** Every member that is null stays. */
  readonly keepsNulls: boolean;
}

/** Cache slots for the keys of one document, which repeat from object to object. */
const keySlotsBits = 8;

/** Reads UTF-8. Call `read` until it returns true; then `value` is complete. */
export class JsonReader {
  readonly #bytes: Buffer;
  readonly #scanner: JsonBytes;
  readonly #reading: JsonReading;
  readonly #pairsPaths: readonly PairsPath[] | undefined;
  #at = 0;
  #expected: Expected = "value";
  readonly #outer: Level[] = [];
  #level: Level = levelOf(undefined, undefined, false);
  #value: unknown;
  #count = 0;
  /** The start of the object that is stored as text, and the number of levels around it. */
  #textAt = -1;
  #textLevels = 0;
  /** Whether the last string has an escape. */
  #isEscaped = false;

  constructor(bytes: Buffer, reading: JsonReading) {
    this.#bytes = bytes;
    this.#scanner = new JsonBytes(bytes, new StringCache(keySlotsBits));
    this.#reading = reading;
    this.#pairsPaths = reading.pairsPaths?.length ? reading.pairsPaths : undefined;
    const hasByteOrderMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
    if (hasByteOrderMark) this.#at = 3;
  }

  /** The number of bytes read so far. */
  get at(): number {
    return this.#at;
  }

  /** The number of values so far. */
  get count(): number {
    return this.#count;
  }

  get value(): unknown {
    invariant(this.#expected === "end", "all has been read");
    return this.#value;
  }

  /** Reads about this many bytes more, at most a string longer; returns true at the end of the input. */
  read(bytes: number): boolean {
    const stop = this.#at + bytes;
    while (this.#at < stop) {
      const found = this.#bytes[this.#at];
      if (found === undefined) {
        if (this.#expected !== "end") throw new JsonMalformed("it ends too early");
        return true;
      }
      if (found > space) this.#token(found);
      else if (found === space || found === 10 || found === 13 || found === 9) this.#at += 1;
      else throw this.#unexpected();
    }
    return false;
  }

  #token(found: number): void {
    switch (this.#expected) {
      case "element":
        if (found === closeBracket) this.#close();
        else this.#startValue(found);
        break;
      case "value":
        this.#startValue(found);
        break;
      case "first-key":
        if (found === closeBrace) this.#close();
        else this.#key(found);
        break;
      case "key":
        this.#key(found);
        break;
      case "colon":
        if (found !== colon) throw this.#unexpected();
        this.#at += 1;
        this.#expected = "value";
        break;
      case "comma":
        this.#afterValue(found);
        break;
      default:
        throw this.#unexpected();
    }
  }

  #afterValue(found: number): void {
    const isList = this.#level.list !== undefined;
    if (found === comma) {
      this.#at += 1;
      this.#expected = isList ? "value" : "key";
    } else if (found === (isList ? closeBracket : closeBrace)) this.#close();
    else throw this.#unexpected();
  }

  #startValue(found: number): void {
    if (found === openBrace)
      this.#open(levelOf(undefined, {}, this.#isWithinKeptNulls(), this.#pairsPathHere()));
    else if (found === openBracket) this.#open(levelOf([], undefined, this.#level.keepsNulls));
    else if (found === quote) this.#add(this.#string());
    else {
      const start = this.#at;
      if (found === minus || (found >= zero && found <= nine)) this.#add(this.#number());
      else this.#add(this.#word());
      if (this.#level.pairsPath) this.#keepScalar(start);
    }
  }

  #keepScalar(start: number): void {
    const level = this.#level;
    level.texts ??= new Map();
    level.texts.set(level.key, this.#bytes.toString("latin1", start, this.#at));
  }

  /** The path of pairs that the object starting here is at. */
  #pairsPathHere(): PairsPath | undefined {
    if (!this.#pairsPaths || this.#textAt >= 0) return undefined;
    return this.#pairsPaths.find(({ names }) => this.#isAt(names));
  }

  /** Whether the object starting here keeps all its members that are null. */
  #isWithinKeptNulls(): boolean {
    const { keptNulls } = this.#reading;
    return this.#level.keepsNulls || (keptNulls?.within.some((names) => this.#isAt(names)) ?? false);
  }

  #open(level: Level): void {
    if (this.#outer.length === this.#reading.levels) throw new JsonTooLarge("levels");
    if (this.#textAt < 0 && level.members && this.#keepsText()) {
      this.#textAt = this.#at;
      this.#textLevels = this.#outer.length;
    }
    this.#outer.push(this.#level);
    this.#level = level;
    this.#at += 1;
    this.#expected = level.list ? "element" : "first-key";
  }

  /** Whether the value that starts here is stored as text. */
  #keepsText(): boolean {
    const names = this.#reading.keptText;
    return names !== undefined && this.#isAt(names);
  }

  /** Compares from the innermost level outwards, because the own key of most values already differs. */
  #isAt(names: readonly string[]): boolean {
    if (this.#level.list) return false;
    const outer = this.#outer;
    let left = names.length;
    for (let at = outer.length; at > 0; at--) {
      const { members, key } = at === outer.length ? this.#level : outer[at]!;
      if (!members) continue;
      if (left === 0 || key !== names[left - 1]) return false;
      left -= 1;
    }
    return left === 0;
  }

  #close(): void {
    const { list, members, texts, pairsPath } = this.#level;
    if (members && texts && !pairsPath?.except?.(members)) putStrings(members, texts);
    this.#level = this.#outer.pop()!;
    this.#at += 1;
    const isText = this.#textAt >= 0 && this.#outer.length === this.#textLevels;
    this.#add(isText ? this.#endText() : (list ?? members));
  }

  #endText(): JsonText {
    const start = this.#textAt;
    this.#textAt = -1;
    if (this.#at - start > this.#reading.textBytes) throw new JsonTooLarge("textBytes");
    return new JsonText(this.#bytes.toString("utf8", start, this.#at));
  }

  /** Adds a complete value to the array or object around it. */
  #add(value: unknown): void {
    const { list, members, key } = this.#level;
    this.#expected = list || members ? "comma" : "end";
    if (this.#textAt >= 0) return;
    this.#count += 1;
    if (this.#count > this.#reading.values) throw new JsonTooLarge("values");
    if (list) list.push(value);
    else if (!members) this.#value = value;
    else if (value === null && this.#dropsNull()) delete members[key];
    else put(members, key, value);
  }

  #dropsNull(): boolean {
    const { dropsNulls, keptNulls } = this.#reading;
    if (!dropsNulls || this.#level.keepsNulls) return false;
    return !keptNulls?.members.some((names) => this.#isAt(names));
  }

  #key(found: number): void {
    if (found !== quote) throw this.#unexpected();
    if (this.#textAt < 0 && ++this.#level.keys > this.#reading.members) throw new JsonTooLarge("members");
    const start = this.#at;
    const end = this.#endOfString();
    if (this.#textAt < 0) {
      const key = this.#isEscaped ? this.#unescaped(start, end) : this.#name(start);
      if (key === this.#reading.refusedKey) throw new JsonMalformed(`a member is named ${key}`);
      this.#level.key = key;
    }
    this.#at = end;
    this.#expected = "colon";
  }

  /** Reads a key without escapes, mostly from the cache. */
  #name(start: number): string {
    this.#scanner.at = start;
    return this.#scanner.name()!;
  }

  #string(): string | undefined {
    const start = this.#at;
    const end = this.#endOfString();
    this.#at = end;
    if (this.#textAt >= 0) return undefined;
    return this.#isEscaped ? this.#unescaped(start, end) : this.#bytes.toString("utf8", start + 1, end - 1);
  }

  #unescaped(start: number, end: number): string {
    return JSON.parse(this.#bytes.toString("utf8", start, end)) as string;
  }

  /** The end of the string that starts here. */
  #endOfString(): number {
    const bytes = this.#bytes;
    const start = this.#at;
    const bound = this.#textAt < 0 ? "stringBytes" : "textBytes";
    const stop = Math.min(bytes.length, start + this.#reading[bound]);
    this.#isEscaped = false;
    let at = start + 1;
    while (at < stop) {
      const found = bytes[at]!;
      if (found === quote) return at + 1;
      if (found < space) {
        this.#at = at;
        throw this.#unexpected();
      }
      at += found === backslash ? this.#escapeLength(at) : 1;
    }
    throw stop < bytes.length ? new JsonTooLarge(bound) : new JsonMalformed("it ends too early");
  }

  #escapeLength(at: number): number {
    this.#isEscaped = true;
    const kind = this.#bytes[at + 1]!;
    if (shortEscapes.has(kind)) return 2;
    if (kind === smallU && this.#isHex(at + 2) && this.#isHex(at + 4)) return 6;
    this.#at = at;
    throw new JsonMalformed(`a wrong escape at position ${at}`);
  }

  /** Whether two hexadecimal digits are here. */
  #isHex(at: number): boolean {
    const bytes = this.#bytes;
    return isHexDigit(bytes[at]!) && isHexDigit(bytes[at + 1]!);
  }

  #number(): number {
    const bytes = this.#bytes;
    const start = this.#at;
    let end = start;
    while (isOfNumber(bytes[end]!)) if (++end - start > numberBytesMax) throw this.#unexpected();
    this.#scanner.at = start;
    const value = this.#scanner.number();
    if (Number.isNaN(value)) throw this.#unexpected();
    this.#at = this.#scanner.at;
    return value;
  }

  #word(): boolean | null {
    const bytes = this.#bytes;
    for (const { written, value } of words) {
      const end = this.#at + written.length;
      if (end > bytes.length || bytes.compare(written, 0, written.length, this.#at, end) !== 0) continue;
      this.#at = end;
      return value;
    }
    throw this.#unexpected();
  }

  #unexpected(): JsonMalformed {
    const at = this.#at;
    if (at >= this.#bytes.length) return new JsonMalformed("it ends too early");
    const found = this.#bytes.toString("utf8", at, at + 4)[0]!;
    return new JsonMalformed(`unexpected ${JSON.stringify(found)} at position ${at}`);
  }
}

const levelOf = (
  list: unknown[] | undefined,
  members: Members | undefined,
  keepsNulls: boolean,
  pairsPath?: PairsPath | undefined,
): Level => ({ list, members, keepsNulls, key: "", keys: 0, pairsPath, texts: undefined });

const words = [true, false, null].map((value) => ({ value, written: Buffer.from(String(value)) }));
const shortEscapes: ReadonlySet<number> = new Set(Buffer.from('"\\/bfnrt'));
