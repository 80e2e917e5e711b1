// Reads the versions, formats and preferences of a request (docs/reference/odata.md#requests-and-formats).
import { fail } from "../errors.ts";
import { acceptedTypes } from "../lib/media-types.ts";
import type { JsonFormat } from "./write-value.ts";

export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Refuses versions of OData before 4.0. Headers of version 3 are ignored. */
export function checkVersions(headers: RequestHeaders): void {
  const max = textOf(headers["odata-maxversion"]);
  if (max !== undefined && !(Number.parseFloat(max) >= 4))
    throw fail("odata-version-unsupported", { header: "OData-MaxVersion", value: max });
  const version = textOf(headers["odata-version"]);
  if (version !== undefined && !/^4\.(0|01);?$/.test(version))
    throw fail("odata-version-unsupported", { header: "OData-Version", value: version });
}

const textOf = (header: string | string[] | undefined): string | undefined =>
  (Array.isArray(header) ? header.join(",") : header)?.trim() || undefined;

/**
 * The JSON format of a response. `$format` overrides `Accept`; refuses (406) a request that accepts no
 * JSON.
 */
export function formatOf(headers: RequestHeaders, option: string | undefined): JsonFormat {
  const wanted = option ?? textOf(headers["accept"]);
  if (wanted === undefined) return formatWith(new Map());
  if (option?.toLowerCase() === "json") return formatWith(new Map());
  const sorted = acceptedTypes(wanted).sort((a, b) => b.quality - a.quality);
  const json = sorted.find(({ type }) => isJson(type));
  if (!json) throw fail("not-acceptable", { wanted });
  return formatWith(json.parameters);
}

const isJson = (type: string): boolean => ["application/json", "application/*", "*/*"].includes(type);

function formatWith(parameters: ReadonlyMap<string, string>): JsonFormat {
  const level = parameters.get("odata.metadata") ?? parameters.get("metadata");
  return {
    level: level === "none" || level === "full" ? level : "minimal",
    isIeee754Compatible: parameters.get("ieee754compatible") === "true",
  };
}

export const contentTypeOf = ({ level, isIeee754Compatible }: JsonFormat): string =>
  `application/json;odata.metadata=${level}${isIeee754Compatible ? ";IEEE754Compatible=true" : ""}`;

/** XML, unless the client accepts only JSON (docs/reference/odata.md#metadata). */
export function metadataFormatOf(headers: RequestHeaders, option: string | undefined): "xml" | "json" {
  if (option !== undefined) {
    const word = option.toLowerCase().split(";", 1)[0]!.trim();
    if (word === "json" || word === "application/json") return "json";
    if (word === "xml" || word === "application/xml") return "xml";
    throw fail("not-acceptable", { wanted: option });
  }
  const types = acceptedTypes(textOf(headers["accept"]) ?? "").map(({ type }) => type);
  const takesXml = ["application/xml", "text/xml", "*/*"].some((type) => types.includes(type));
  return types.includes("application/json") && !takesXml ? "json" : "xml";
}

export interface Preferences {
  readonly pageSize?: number;
  readonly returned?: "minimal" | "representation";
}

/** The supported preferences of the request; others are ignored. */
export function preferencesOf(headers: RequestHeaders): Preferences {
  const prefer = textOf(headers["prefer"]) ?? "";
  const size = /(?:^|[,;\s])(?:odata\.)?maxpagesize\s*=\s*"?(\d{1,9})"?/i.exec(prefer)?.[1];
  const answer = /(?:^|[,;\s])return\s*=\s*(minimal|representation)/i.exec(prefer)?.[1]?.toLowerCase();
  return {
    ...(size !== undefined && Number(size) > 0 && { pageSize: Number(size) }),
    ...(answer !== undefined && { returned: answer as "minimal" | "representation" }),
  };
}
