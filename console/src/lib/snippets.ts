// A request as text for other programs. The key is a variable: it is never in the browser.
import { baseUrl } from "../api/base.ts";

export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT";
  /** Below the project in API 0.6: `/timeseries?limit=100`. */
  readonly path: string;
  readonly body?: unknown;
  readonly project: string;
  /** The same as an OData query, if there is one: `TimeSeries?$filter=unit eq 'bar'`. */
  readonly odata?: string;
}

export interface Snippet {
  readonly language: string;
  readonly text: string;
}

export function snippetsOf({ method, path, body, project, odata }: ApiRequest): Snippet[] {
  const json = body === undefined ? undefined : JSON.stringify(body, null, 2);
  return [
    ...programsFor({
      method,
      path: `/api/0.6/projects/${encodeURIComponent(project)}${path}`,
      ...(json !== undefined && { body: { contentType: "application/json", content: json } }),
    }),
    ...(odata === undefined
      ? []
      : [
          {
            language: "OData",
            text: `${baseUrl()}/odata/v1/projects/${encodeURIComponent(project)}/${odata}`,
          },
        ]),
  ];
}

export interface HttpRequest {
  readonly method: string;
  /** Below the address of the server. */
  readonly path: string;
  readonly body?: { readonly contentType: string; readonly content: string | Blob };
  /** The response is text; JSON with `data` when absent. */
  readonly isText?: boolean;
}

/** Programs that send the request. */
export function programsFor(request: HttpRequest): Snippet[] {
  return [
    { language: "curl", text: curl(request) },
    { language: "JavaScript", text: javaScript(request) },
    { language: "Python", text: python(request) },
  ];
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** The bytes of a file are not in a program: it reads them from a file of this name. */
const fileName = "body.bin";

function curl({ method, path, body }: HttpRequest): string {
  const lines = [`curl -X ${method} ${quoted(baseUrl() + path)}`, `-H "api-key: $MILLRACE_KEY"`];
  if (body) {
    const { contentType, content } = body;
    const data = typeof content === "string" ? quoted(content) : `@${fileName}`;
    lines.push(`-H 'Content-Type: ${contentType}'`, `--data-binary ${data}`);
  }
  return lines.join(" \\\n  ");
}

function javaScript({ method, path, body, isText }: HttpRequest): string {
  const type = body ? `, "content-type": ${JSON.stringify(body.contentType)}` : "";
  const content = body ? `\n  body: ${javaScriptBody(body.content)},` : "";
  return `const response = await fetch(${JSON.stringify(baseUrl() + path)}, {
  method: "${method}",
  headers: { "api-key": process.env.MILLRACE_KEY${type} },${content}
});
if (!response.ok) throw new Error(await response.text());
${isText ? "const text = await response.text();" : "const { data } = await response.json();"}`;
}

const javaScriptBody = (content: string | Blob): string =>
  typeof content === "string"
    ? JSON.stringify(content)
    : `await (await import("node:fs/promises")).readFile("${fileName}")`;

function python({ method, path, body, isText }: HttpRequest): string {
  const type = body ? `, "content-type": ${JSON.stringify(body.contentType)}` : "";
  const content = body ? `\n    data=${pythonBody(body.content)},` : "";
  return `import os, requests

response = requests.request(
    "${method}",
    ${JSON.stringify(baseUrl() + path)},
    headers={"api-key": os.environ["MILLRACE_KEY"]${type}},${content}
)
response.raise_for_status()
${isText ? "text = response.text" : 'data = response.json()["data"]'}`;
}

const pythonBody = (content: string | Blob): string =>
  typeof content === "string" ? `${JSON.stringify(content)}.encode()` : `open("${fileName}", "rb")`;
