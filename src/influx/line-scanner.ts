// Scans line protocol from bytes into columns (docs/influx.md#lines).
//
// A line is `measurement,tag=value field=1,other="x" 1700000000000000000`. Names come from a cache by their
// bytes, and clients send the same lines in each cycle, so the scanner first compares a line with the one
// that followed last time. It makes no string for a number. `LineKernel` reads most lines.
import { textOf } from "../lib/utf8.ts";
import { limits } from "../limits.ts";
import { excerpt, isAt, isValueEnd, lineEnd, newlinesIn, stringEnd } from "./line-bytes.ts";
import type { LineColumns } from "./line-columns.ts";
import { scanPlainNumber } from "./plain-number.ts";
import type { Precision } from "./precision.ts";
import {
  HeadNames,
  isEscapable,
  type NameScope,
  type SeriesName,
  type SeriesNames,
  type Slice,
} from "./series-names.ts";

const code = (character: string): number => character.charCodeAt(0);
const [comma, equals, space, backslash, quote] = [code(","), code("="), code(" "), code("\\"), code('"')];
const [newline, carriageReturn, tab, hash] = [code("\n"), code("\r"), code("\t"), code("#")];
const [minus, dot, zero, nine] = [code("-"), code("."), code("0"), code("9")];

/** A number in plain decimals: the smallest double has 1,076 characters. */
const numberLengthMax = 1_100;

const floatForm = /^-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const integerForm = /^(?:-?\d+i|\d+u)$/;
const booleans: ReadonlyMap<string, number> = new Map([
  ...["t", "T", "true", "True", "TRUE"].map((word) => [word, 1] as const),
  ...["f", "F", "false", "False", "FALSE"].map((word) => [word, 0] as const),
]);

/** A name that is not cached takes as long as this many points. */
const newNamePoints = 20;

interface ScannerOptions {
  readonly names: SeriesNames;
  readonly scope: NameScope;
  readonly columns: LineColumns;
  readonly precision: Precision;
  /** The time of lines without one. */
  readonly nowMs: number;
  /** Called for each line that is not valid. */
  readonly refuse: (line: number, reason: () => string) => void;
}

export class LineScanner {
  readonly #bytes: Buffer;
  readonly #names: SeriesNames;
  readonly #scope: NameScope;
  readonly #columns: LineColumns;
  readonly #precision: Precision;
  readonly #nowMs: number;
  readonly #refuse: ScannerOptions["refuse"];
  #at = 0;
  #line = 1;
  /** Of the last line, while its kernel is in use. */
  #head: HeadNames | undefined;
  #slice: Slice | undefined;
  /** Why the line is not valid. */
  #problem = "";
  /** The number that was read last. */
  readonly #value = new Float64Array(1);
  #timeMs = 0;
  /** Whether the last time was not a whole millisecond. */
  #isCut = false;
  /** The series of the numbers, and of the strings, of the current line. */
  readonly #numberNames: SeriesName[] = [];
  readonly #stringNames: SeriesName[] = [];
  /** Points whose time was rounded down to a millisecond. */
  cutPoints = 0;

  constructor(bytes: Buffer, options: ScannerOptions) {
    this.#bytes = bytes;
    this.#names = options.names;
    this.#scope = options.scope;
    this.#columns = options.columns;
    this.#precision = options.precision;
    this.#nowMs = options.nowMs;
    this.#refuse = options.refuse;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** Fills the columns with the points of the next lines, up to the limits of one write. */
  scanSlice(): void {
    const columns = this.#columns;
    const bytes = this.#bytes;
    const slice = this.#names.nextSlice(this.#scope);
    const { kernel } = slice;
    if (this.#slice?.kernel !== kernel) this.#head = undefined;
    this.#slice = slice;
    columns.clear();
    const pointsMax = limits.pointsPerWriteMax - limits.influxFieldsPerLineMax;
    const end = Math.min(bytes.length, this.#at + limits.insertScanBytesMax);
    for (let left = pointsMax; this.#at < end && left > 0; ) {
      left = this.#scanRepeated(slice, end, left);
      if (this.#at >= end || left <= 0) break;
      const start = this.#at;
      const [numbers, strings] = [columns.count, columns.strings.length];
      const { made } = this.#names;
      const isValid = this.#scanLine();
      if (isValid)
        this.#commit((name) => kernel.numberOf(name.place, slice.number, columns), numbers, strings);
      else this.#refuseLine(start, numbers, strings);
      if (!isValid || this.#stringNames.length > 0) this.#line += newlinesIn(bytes, start, this.#at);
      this.#numberNames.length = 0;
      this.#stringNames.length = 0;
      this.#line += 1;
      this.#at += 1;
      left -= 1 + columns.count - numbers + columns.strings.length - strings;
      left -= newNamePoints * (this.#names.made - made);
    }
  }

  /** Reads the next lines as far as they repeat earlier ones. Returns how much is left of the slice. */
  #scanRepeated({ number, kernel }: Slice, end: number, left: number): number {
    if (this.#head === undefined) return left;
    const { place } = this.#head;
    const position = { at: this.#at, line: this.#line, head: place, left, cutPoints: this.cutPoints };
    kernel.scanRepeated(this.#bytes, position, {
      ...{ columns: this.#columns, precision: this.#precision, slice: number, end },
    });
    this.#at = position.at;
    this.#line = position.line;
    this.#head = this.#names.headAt(position.head);
    this.cutPoints = position.cutPoints;
    return position.left;
  }

  /** Drops the points of the line, and moves to its end. */
  #refuseLine(start: number, numbers: number, strings: number): void {
    const problem = this.#problem;
    this.#columns.count = numbers;
    this.#columns.strings.length = strings;
    this.#at = lineEnd(this.#bytes, start);
    this.#refuse(this.#line, () => `unable to parse '${excerpt(this.#bytes, start, this.#at)}': ${problem}`);
  }

  /** Reads the points of a line, or a line without any, up to its newline. */
  #scanLine(): true | undefined {
    const bytes = this.#bytes;
    while (bytes[this.#at] === space || bytes[this.#at] === tab) this.#at += 1;
    if (bytes[this.#at] === hash) {
      this.#at = bytes.indexOf(newline, this.#at);
      if (this.#at < 0) this.#at = bytes.length;
      return true;
    }
    if (this.#isLineEnd()) return true;
    const head = this.#scanHead();
    if (!head) return undefined;
    this.#skipSpaces();
    if (this.#isLineEnd()) return this.#fail("missing fields");
    for (let i = 0; ; i += 1) {
      if (i === limits.influxFieldsPerLineMax) return this.#fail(`more than ${i} fields`);
      const field = this.#scanField(head, i);
      if (!field || !this.#scanValue(field)) return undefined;
      if (bytes[this.#at] !== comma) {
        head.endLine(i + 1);
        break;
      }
      this.#at += 1;
    }
    return this.#scanTime();
  }

  /** Gives the points of a valid line their time and the numbers of their series. */
  #commit(numberOf: (name: SeriesName) => number, numbers: number, strings: number): void {
    const columns = this.#columns;
    const timeMs = this.#timeMs;
    for (let at = numbers; at < columns.count; at += 1) {
      columns.times[at] = timeMs;
      columns.lines[at] = this.#line;
      columns.series[at] = numberOf(this.#numberNames[at - numbers]!);
    }
    for (let at = strings; at < columns.strings.length; at += 1) {
      const point = columns.strings[at]!;
      point.timeMs = timeMs;
      point.series = numberOf(this.#stringNames[at - strings]!);
    }
    if (this.#isCut) this.cutPoints += columns.count - numbers + columns.strings.length - strings;
    this.#isCut = false;
  }

  #scanHead(): HeadNames | undefined {
    const bytes = this.#bytes;
    const from = this.#at;
    const last = this.#head;
    const expected = last?.next;
    if (expected && isAt(bytes, from, expected.bytes) && bytes[from + expected.bytes.length] === space) {
      this.#at = from + expected.bytes.length;
      this.#head = expected;
      return expected;
    }
    let to = from;
    let sum = 0;
    for (; to < bytes.length; to += 1) {
      const found = bytes[to]!;
      if (found === space || found === newline) break;
      sum = Math.imul(sum ^ found, 0x01000193);
      if (found === backslash && isEscapable(bytes[to + 1])) to += 1;
    }
    this.#at = to;
    const head = this.#names.head(this.#slice!.table, bytes, { from, to }, sum);
    if (!(head instanceof HeadNames)) return this.#fail(head);
    if (last) last.next = head;
    this.#head = head;
    return head;
  }

  /** Reads the key of field `i`, and the `=` after it. */
  #scanField(head: HeadNames, i: number): SeriesName | undefined {
    const bytes = this.#bytes;
    const from = this.#at;
    const expected = head.fieldAt(i);
    if (expected && isAt(bytes, from, expected.key) && bytes[from + expected.key.length] === equals) {
      this.#at = from + expected.key.length + 1;
      return expected;
    }
    let to = from;
    for (let found = bytes[to]; found !== equals; found = bytes[to]) {
      if (to >= bytes.length || found === comma || found === space || found === newline)
        return this.#fail(to === from ? "missing field key" : "invalid field format: no = after the key");
      to += found === backslash && isEscapable(bytes[to + 1]) ? 2 : 1;
    }
    this.#at = to + 1;
    if (to - from > limits.influxKeyBytesMax)
      return this.#fail(
        `a field key has ${to - from} bytes; at most ${limits.influxKeyBytesMax} are possible`,
      );
    const name = this.#names.field(this.#slice!.table, head, bytes, { from, to });
    if (typeof name === "string") return this.#fail(name);
    if (name.problem !== undefined) return this.#fail(name.problem);
    head.setField(i, name);
    return name;
  }

  #scanValue(field: SeriesName): true | undefined {
    const first = this.#bytes[this.#at];
    if (first === quote) return this.#scanString(field);
    const isNumber = first === minus || first === dot || (first! >= zero && first! <= nine);
    if (!(isNumber ? this.#scanNumber() : this.#scanBoolean())) return undefined;
    const columns = this.#columns;
    if (columns.count === columns.times.length) columns.grow();
    columns.values[columns.count] = this.#value[0]!;
    columns.count += 1;
    this.#numberNames.push(field);
    return true;
  }

  #scanNumber(): true | undefined {
    const at = scanPlainNumber(this.#bytes, this.#at, this.#value, 0);
    if (at < 0 || !isValueEnd(this.#bytes[at])) return this.#scanLongNumber();
    this.#at = at;
    return true;
  }

  /** Reads a number with more digits or an exponent. */
  #scanLongNumber(): true | undefined {
    const token = this.#token();
    if (token.length > numberLengthMax) return this.#fail(`a number of ${token.length} characters`);
    if (integerForm.test(token)) {
      const value = BigInt(token.slice(0, -1));
      const isInRange = token.endsWith("u")
        ? BigInt.asUintN(64, value) === value
        : BigInt.asIntN(64, value) === value;
      if (!isInRange) return this.#fail(`invalid value: the integer ${token} needs more than 64 bits`);
      this.#value[0] = Number(value);
    } else if (floatForm.test(token)) {
      this.#value[0] = Number(token);
      if (!Number.isFinite(this.#value[0]))
        return this.#fail(`invalid value: ${token} is too large for a double`);
    } else return this.#fail(token === "" ? "missing field value" : "invalid value");
    this.#at += token.length;
    return true;
  }

  #scanBoolean(): true | undefined {
    const token = this.#token();
    const value = booleans.get(token);
    if (value === undefined) return this.#fail(token === "" ? "missing field value" : "invalid value");
    this.#value[0] = value;
    this.#at += token.length;
    return true;
  }

  /** The bytes up to the end of the value; no valid number has more. */
  #token(): string {
    const bytes = this.#bytes;
    let to = this.#at;
    while (!isValueEnd(bytes[to]) && to - this.#at <= numberLengthMax) to += 1;
    return bytes.toString("latin1", this.#at, to);
  }

  #scanString(field: SeriesName): true | undefined {
    const bytes = this.#bytes;
    const from = this.#at + 1;
    const to = stringEnd(bytes, from);
    if (to >= bytes.length) return this.#fail("unbalanced quotes");
    if (!isValueEnd(bytes[to + 1])) return this.#fail("invalid value: characters after a string");
    const raw = textOf(bytes, from, to);
    if (raw === undefined) return this.#fail("a string is not UTF-8");
    const value = raw.includes("\\") ? raw.replaceAll(/\\(["\\])/g, "$1") : raw;
    const { stringValueLengthMax } = limits;
    if (value.length > stringValueLengthMax)
      return this.#fail(
        `a string of ${value.length} characters; at most ${stringValueLengthMax} are possible`,
      );
    this.#columns.strings.push({ value, series: 0, timeMs: 0, line: this.#line });
    this.#stringNames.push(field);
    this.#at = to + 1;
    return true;
  }

  /** Reads the time, if there is one, and the end of the line. */
  #scanTime(): true | undefined {
    this.#skipSpaces();
    this.#timeMs = this.#nowMs;
    if (this.#isLineEnd()) return true;
    const bytes = this.#bytes;
    const isNegative = bytes[this.#at] === minus;
    let from = isNegative ? this.#at + 1 : this.#at;
    let to = from;
    while ((bytes[to]! ^ zero) <= 9) to += 1;
    if (to === from) return this.#fail("bad timestamp");
    while (from < to - 1 && bytes[from] === zero) from += 1;
    const { digits, factor } = this.#precision;
    const wholeEnd = to - digits;
    if (wholeEnd - from > 15) return this.#fail(timeOutside);
    let whole = 0;
    for (let at = from; at < wholeEnd; at += 1) whole = whole * 10 + (bytes[at]! ^ zero);
    let rest = 0;
    for (let at = Math.max(wholeEnd, from); at < to; at += 1) rest |= bytes[at]! ^ zero;
    this.#isCut = rest !== 0;
    const timeMs = isNegative ? -whole * factor - (this.#isCut ? 1 : 0) : whole * factor;
    if (timeMs < limits.timeMsMin || timeMs > limits.timeMsMax) return this.#fail(timeOutside);
    this.#timeMs = timeMs + 0;
    this.#at = to;
    this.#skipSpaces();
    return this.#isLineEnd() ? true : this.#fail("bad timestamp");
  }

  #skipSpaces(): void {
    while (this.#bytes[this.#at] === space) this.#at += 1;
  }

  /** Whether the line ends here; moves past a carriage return. */
  #isLineEnd(): boolean {
    const bytes = this.#bytes;
    const end = bytes[this.#at] === carriageReturn ? this.#at + 1 : this.#at;
    if (end < bytes.length && bytes[end] !== newline) return false;
    this.#at = end;
    return true;
  }

  #fail(problem: string): undefined {
    this.#problem = problem;
    this.#isCut = false;
  }
}

const timeOutside = `the time is outside of ${limits.timeMsMin} to ${limits.timeMsMax} ms (1900 to 2099)`;
