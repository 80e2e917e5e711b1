// Reads the headers Accept and Accept-Encoding, with their qualities.

export interface MediaType {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

/** The types of a header in its order, without those of quality 0. */
export const acceptedTypes = (header: string): MediaType[] =>
  mediaTypes(header).filter(({ quality }) => quality > 0);

function mediaTypes(header: string): MediaType[] {
  const all = header.split(",").map((part) => {
    const [type = "", ...rest] = part.split(";").map((one) => one.trim());
    const pairs = rest.map((one) => one.split("=", 2).map((word) => word.trim().toLowerCase()));
    const parameters = new Map(pairs.map(([name = "", value = ""]) => [name, value.replaceAll('"', "")]));
    const quality = Number(parameters.get("q") ?? 1);
    return { type: type.toLowerCase(), parameters, quality: Number.isNaN(quality) ? 1 : quality };
  });
  return all.filter(({ type }) => type !== "");
}

/** Whether the header names the type, and JSON at most with the same quality. */
export function prefersToJson(type: string, header: string | string[] | undefined): boolean {
  const text = `${header ?? ""}`;
  if (!text.toLowerCase().includes(type)) return false;
  const all = mediaTypes(text);
  const qualityOf = (...names: readonly string[]) =>
    names.map((name) => all.find((one) => one.type === name)?.quality).find((one) => one !== undefined) ?? 0;
  const quality = qualityOf(type);
  return quality > 0 && quality >= qualityOf("application/json", "application/*", "*/*");
}

/** Whether the header names the encoding, with a quality above 0. */
export const acceptsEncoding = (encoding: string, header: string | string[] | undefined): boolean =>
  acceptedTypes(`${header ?? ""}`).some(({ type }) => type === encoding);
