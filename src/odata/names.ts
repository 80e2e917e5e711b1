// Encodes names of open members that are not OData identifiers (docs/reference/odata.md#open-members).

const plain = /^[\p{L}_][\p{L}\p{Nd}_]{0,127}$/u;
const escapes = /_x[0-9A-Fa-f]{4}_/g;
/** The character after an escape may become a code, which begins with `_`. */
const startOfEscape = /^_x[0-9A-Fa-f]{4}[^A-Za-z0-9]/;
/** Stands for the empty name, which has no character to encode. */
const emptyName = "_x_";

/** An identifier for the name: `a.b` becomes `a_x002E_b`. Different names have different identifiers. */
export function encodeName(name: string): string {
  if (name === "") return emptyName;
  if (plain.test(name) && !name.includes("_x")) return name;
  let encoded = "";
  for (let at = 0; at < name.length; at++) {
    const letter = name[at]!;
    const isPlain = at === 0 ? /[\p{L}_]/u.test(letter) : /[\p{L}\p{Nd}_]/u.test(letter);
    const looksEscaped = letter === "_" && (name === emptyName || startOfEscape.test(name.slice(at, at + 7)));
    encoded += isPlain && !looksEscaped ? letter : codeOf(letter);
  }
  return encoded;
}

const codeOf = (letter: string): string =>
  `_x${letter.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}_`;

/** `Assets('101')`, or `Assets('101')/Children` with a navigation, encoded for a URL. */
export function pathWithKey(base: string, key: string, navigation?: string): string {
  const entity = `${base}('${encodeURIComponent(key.replaceAll("'", "''"))}')`;
  return navigation === undefined ? entity : `${entity}/${navigation}`;
}

export const decodeName = (name: string): string =>
  name === emptyName
    ? ""
    : name.replace(escapes, (code) => String.fromCharCode(Number.parseInt(code.slice(2, 6), 16)));
