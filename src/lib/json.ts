// The one reader of JSON, as V8 itself may misread it: https://github.com/nodejs/node/issues/63785
// (Node 24 and 26).
//
// After an object with the key `\` was read anywhere in the process, `JSON.parse` may take another key
// that is written with an escape, such as `"\n"`, for that key. Keys without escapes are always read
// right.

/** `JSON.parse`, with every key as written. Throws the same errors. */
export function parseJson(text: string): unknown {
  const data: unknown = JSON.parse(text);
  if (!text.includes("\\") || !hasEscapedKey(text)) return data;
  return objectsFrom(JSON.parse(withKeysAsValues(text)));
}

/** From the opening quote to behind the closing one. */
interface StringSpan {
  readonly start: number;
  readonly end: number;
  readonly escaped: boolean;
}

/** The strings of a valid JSON text; a scan, as a pattern would recurse on long strings. */
function* stringsIn(text: string): Generator<StringSpan> {
  for (let start = text.indexOf('"'); start >= 0; ) {
    let end = start + 1;
    let escaped = false;
    for (; text[end] !== '"'; end++) {
      if (text[end] !== "\\") continue;
      escaped = true;
      end++;
    }
    yield { start, end: end + 1, escaped };
    start = text.indexOf('"', end + 1);
  }
}

const colon = /\s*:/y;

function hasEscapedKey(text: string): boolean {
  for (const { end, escaped } of stringsIn(text)) {
    colon.lastIndex = end;
    if (escaped && colon.test(text)) return true;
  }
  return false;
}

/** Every object as `{"o":[key, value, key, value]}`. */
function withKeysAsValues(text: string): string {
  const marked = (from: number, to?: number) =>
    text.slice(from, to).replace(/[{}:]/g, (mark) => marks[mark]!);
  let result = "";
  let done = 0;
  for (const { start, end } of stringsIn(text)) {
    result += marked(done, start) + text.slice(start, end);
    done = end;
  }
  return result + marked(done);
}

const marks: Readonly<Record<string, string>> = { "{": '{"o":[', "}": "]}", ":": "," };

function objectsFrom(data: unknown): unknown {
  if (Array.isArray(data)) return data.map(objectsFrom);
  if (typeof data !== "object" || data === null) return data;
  const { o: members } = data as { readonly o: readonly unknown[] };
  const object: Record<string, unknown> = {};
  for (let at = 0; at < members.length; at += 2) {
    const value = objectsFrom(members[at + 1]);
    Object.defineProperty(object, members[at] as string, { value, ...plainMember });
  }
  return object;
}

/** As `JSON.parse` makes them, so that a key `__proto__` is a member like any other. */
const plainMember = { writable: true, enumerable: true, configurable: true } as const;
