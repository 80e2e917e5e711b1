// Stores the NUL character, which PostgreSQL refuses in text, as an escape sequence.
//
// NUL becomes U+0001 U+0002, and U+0001 becomes U+0001 U+0003. The encoding keeps the order of strings and
// their prefixes. A part of a string stays a part of it; the reverse holds for parts that begin with another
// character than U+0002 and U+0003 (see `mayBeMisread`). In JSON these characters are `\u0000` to `\u0003`.

/** The string as PostgreSQL stores it. */
export const encodeText = (text: string): string =>
  hasEscaped(text) ? text.replaceAll(mark, startOfHeading).replaceAll("\0", nul) : text;

/** The string that `encodeText` encoded. */
export const decodeText = (text: string): string =>
  text.includes(mark) ? text.replaceAll(nul, "\0").replaceAll(startOfHeading, mark) : text;

/** As `encodeText`, for the strings and keys in a JSON text. */
export const encodeJson = (json: string): string =>
  json.includes("\\u000")
    ? json.replace(/\\(?:u000[01]|.)/g, (found) => jsonCodes[found as keyof typeof jsonCodes] ?? found)
    : json;

/** The JSON text that `encodeJson` encoded. */
export const decodeJson = (json: string): string =>
  json.includes("\\u0001")
    ? json.replace(/\\(?:u0001\\u000[23]|.)/g, (found) => {
        if (found === jsonCodes["\\u0000"]) return "\\u0000";
        return found === jsonCodes["\\u0001"] ? "\\u0001" : found;
      })
    : json;

/** The string may begin in the middle of an escape sequence of a stored string. */
export const mayBeMisread = (part: string): boolean => part.startsWith("\u0002") || part.startsWith("\u0003");

const mark = "\u0001";
const nul = `${mark}\u0002`;
const startOfHeading = `${mark}\u0003`;
const jsonCodes = { "\\u0000": "\\u0001\\u0002", "\\u0001": "\\u0001\\u0003" } as const;

const hasEscaped = (text: string): boolean => text.includes("\0") || text.includes(mark);
