// A request as text for other programs. The key is a variable: it is never in the browser.
import { baseUrl } from "../api/base.ts";

export interface ApiRequest {
  readonly method: "GET" | "POST";
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
  const url = `${baseUrl()}/api/0.6/projects/${encodeURIComponent(project)}${path}`;
  const json = body === undefined ? undefined : JSON.stringify(body, null, 2);
  return [
    { language: "curl", text: curl(method, url, json) },
    { language: "JavaScript", text: javaScript(method, url, json) },
    { language: "Python", text: python(method, url, json) },
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

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

function curl(method: string, url: string, json: string | undefined): string {
  const lines = [`curl -X ${method} ${quoted(url)}`, `-H "api-key: $MILLRACE_KEY"`];
  if (json !== undefined) lines.push(`-H 'Content-Type: application/json'`, `-d ${quoted(json)}`);
  return lines.join(" \\\n  ");
}

function javaScript(method: string, url: string, json: string | undefined): string {
  const type = json === undefined ? "" : `, "content-type": "application/json"`;
  const body = json === undefined ? "" : `\n  body: JSON.stringify(${json}),`;
  return `const response = await fetch(${JSON.stringify(url)}, {
  method: "${method}",
  headers: { "api-key": process.env.MILLRACE_KEY${type} },${body}
});
const { data } = await response.json();`;
}

function python(method: string, url: string, json: string | undefined): string {
  const body = json === undefined ? "" : `\n    json=json.loads(${JSON.stringify(json)}),`;
  return `import json, os, requests

response = requests.request(
    "${method}",
    ${JSON.stringify(url)},
    headers={"api-key": os.environ["MILLRACE_KEY"]},${body}
)
response.raise_for_status()
data = response.json()["data"]`;
}
