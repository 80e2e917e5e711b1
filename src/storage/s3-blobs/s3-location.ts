// Parses the setting `s3://bucket/prefix?endpoint=...&region=...&path-style=...`.

export interface S3Location {
  readonly bucket: string;
  /** Begins the key of each object; empty, or ends with a slash. */
  readonly prefix: string;
  /** The address of the store; absent for the store of AWS in the region. */
  readonly endpoint?: string;
  /** Absent when the environment decides (`AWS_REGION`). */
  readonly region?: string;
  /** The bucket is in the path of a URL, not in the host name. */
  readonly pathStyle: boolean;
}

export const s3UrlForm = "an address such as s3://bucket/prefix?endpoint=https://s3.example.com:9000";

const parameterNames = ["endpoint", "region", "path-style"] as const;

/** Parses the setting. Throws an error that names the invalid part and its value, but never a credential. */
export function parseS3Url(value: string): S3Location {
  const url = URL.parse(value);
  if (url?.protocol !== "s3:") throw new Error(`must be ${s3UrlForm}`);
  if (url.username !== "" || url.password !== "")
    throw new Error("must not hold credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
  refuseParameters(url.searchParams);
  const endpoint = url.searchParams.get("endpoint") ?? undefined;
  const region = url.searchParams.get("region") ?? undefined;
  const pathStyle = url.searchParams.get("path-style") ?? `${endpoint !== undefined}`;
  requireForm(
    "bucket",
    url.host,
    /^[a-z\d][a-z\d.-]{1,61}[a-z\d]$/,
    "3 to 63 lower-case letters, digits, . or -",
  );
  const prefix = prefixOf(url.pathname);
  if (endpoint !== undefined) requireEndpoint(endpoint);
  if (region !== undefined) requireForm("region", region, /^[\w-]{1,64}$/, "letters, digits and hyphens");
  requireForm("path-style", pathStyle, /^(true|false)$/, "true or false");
  return {
    bucket: url.host,
    prefix,
    pathStyle: pathStyle === "true",
    ...(endpoint !== undefined && { endpoint }),
    ...(region !== undefined && { region }),
  };
}

function refuseParameters(parameters: URLSearchParams): void {
  for (const name of new Set(parameters.keys())) {
    if (!(parameterNames as readonly string[]).includes(name))
      throw new Error(`has the unknown parameter ${name}; known are ${parameterNames.join(", ")}`);
    if (parameters.getAll(name).length > 1) throw new Error(`has the parameter ${name} more than once`);
  }
}

function prefixOf(path: string): string {
  const prefix = path.replace(/^\/+|\/+$/g, "");
  requireForm("prefix", prefix, /^[\w.\-/]{0,200}$/, "at most 200 letters, digits, and . _ - /");
  return prefix === "" ? "" : `${prefix}/`;
}

function requireEndpoint(endpoint: string): void {
  const url = URL.parse(endpoint);
  if (url?.username || url?.password) throw new Error("must not hold credentials in the endpoint");
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.pathname === "/" && url.search === "";
  if (!isPlain)
    throw new Error(`needs an endpoint such as https://s3.example.com:9000, but it is "${endpoint}"`);
}

function requireForm(name: string, value: string, form: RegExp, expected: string): void {
  if (!form.test(value)) throw new Error(`needs a ${name} of ${expected}, but it is "${value}"`);
}
