// Sets members of the objects that `JsonReader` builds, and converts scalars among them to strings.

export type Members = Record<string, unknown>;

/** Selects the objects of free-form pairs at a path of member names; arrays on the path have no name. */
export interface PairsPath {
  readonly names: readonly string[];
  /** Does not convert an object for which this returns true. */
  readonly except?: (members: Readonly<Record<string, unknown>>) => boolean;
}

/** Which members stay although they are null. Arrays on a path have no name. */
export interface KeptNulls {
  readonly members: readonly (readonly string[])[];
  /** In objects at these paths, at any depth. */
  readonly within: readonly (readonly string[])[];
}

/** Sets an own member, also one named `__proto__`. */
export function put(members: Members, key: string, value: unknown): void {
  if (key !== "__proto__") members[key] = value;
  else Object.defineProperty(members, key, { value, ...plainMember });
}

/** Replaces each scalar by its JSON text, and removes null. */
export function putStrings(members: Members, texts: ReadonlyMap<string, string>): void {
  for (const [key, text] of texts) {
    const value = members[key];
    if (value === null) delete members[key];
    // A repeated key can have a string or an object after the scalar.
    else if (typeof value === "number" || typeof value === "boolean") put(members, key, text);
  }
}

/** The attributes of a member that `JSON.parse` sets. */
const plainMember = { writable: true, enumerable: true, configurable: true } as const;
