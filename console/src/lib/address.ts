// Search parameters as plain text: `?series=a&series=b&start=7d-ago`. A name that repeats has several values.

/** Each parameter as a string, or as a list of strings when it repeats. The pages decode them further. */
export function parseAddress(search: string): Record<string, string | string[]> {
  const parameters = new URLSearchParams(search);
  return Object.fromEntries(
    [...new Set(parameters.keys())].map((name) => {
      const values = parameters.getAll(name);
      return [name, values.length === 1 ? values[0]! : values];
    }),
  );
}

/** Writes strings, numbers, booleans and lists of them; leaves out undefined values. */
export function addressOf(search: Readonly<Record<string, unknown>>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(search))
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined) parameters.append(name, String(one));
  const text = parameters.toString();
  return text === "" ? "" : `?${text}`;
}
