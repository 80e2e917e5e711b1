// The members of an object that `JsonReader` makes, and how scalars among them become strings.

export type Members = Record<string, unknown>;

/** The objects at a path of member names; lists on the path have none. */
export interface TextPlace {
  readonly names: readonly string[];
  /** Leaves such an object as it is. */
  readonly except?: (members: Readonly<Record<string, unknown>>) => boolean;
}

/** Sets an own member, also one called `__proto__`. */
export function put(members: Members, key: string, value: unknown): void {
  if (key !== "__proto__") members[key] = value;
  else Object.defineProperty(members, key, { value, ...plainMember });
}

/** Puts the JSON text in place of each scalar, and removes null. */
export function putTexts(members: Members, texts: ReadonlyMap<string, string>): void {
  for (const [key, text] of texts) {
    const value = members[key];
    if (value === null) delete members[key];
    // Of a repeated key, a string or an object can have come after the scalar.
    else if (typeof value === "number" || typeof value === "boolean") put(members, key, text);
  }
}

/** As `JSON.parse` makes them. */
const plainMember = { writable: true, enumerable: true, configurable: true } as const;
