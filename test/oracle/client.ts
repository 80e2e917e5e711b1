// A plain HTTP client that keeps its connections, for very many small requests.
import assert from "node:assert/strict";
import { Agent, type IncomingHttpHeaders, request } from "node:http";

/** The content of responses and refusals; comparisons use the part that is present. */
export interface Body {
  readonly data: { readonly items: readonly Item[]; readonly nextCursor?: string };
  readonly error?: unknown;
}

export interface Item {
  readonly id: number;
  readonly [member: string]: unknown;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly json: Body;
  readonly text: string;
  readonly bytes: Buffer;
}

export type Client = (
  methodAndPath: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<Reply>;

/** The administrator `admin` as a member of this group alone. */
export const seenAs =
  (admin: Client, groupId: number): Client =>
  (methodAndPath, body, headers) =>
    admin(methodAndPath, body, { ...headers, "X-See-As-Group": String(groupId) });

const agent = new Agent({ keepAlive: true, maxSockets: 16 });

/** Sends requests with this key. */
export const clientFor = (baseUrl: string, key: string): Client => clientWith(baseUrl, { "api-key": key });

/** Sends requests as a page of the console does, with the cookie of a session of this key. */
export async function sessionFor(baseUrl: string, key: string): Promise<Client> {
  const signIn = clientWith(baseUrl, {});
  const { headers, text } = await signIn("POST /session", { apiKey: key });
  const cookie = headers["set-cookie"]?.[0]?.split(";")[0];
  assert.ok(cookie, text);
  return clientWith(baseUrl, { cookie, origin: baseUrl });
}

const clientWith =
  (baseUrl: string, credentials: Readonly<Record<string, string>>): Client =>
  (methodAndPath, body, headers = {}) =>
    new Promise((resolve, reject) => {
      const blank = methodAndPath.indexOf(" ");
      const [method, path] = [methodAndPath.slice(0, blank), methodAndPath.slice(blank + 1)];
      const sent = request(new URL(path, baseUrl), {
        method,
        agent,
        headers: { ...credentials, ...headers },
      });
      sent.on("error", reject);
      sent.on("response", (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const bytes = Buffer.concat(chunks);
          const text = bytes.toString();
          const isJson = response.headers["content-type"]?.startsWith("application/json");
          const json = isJson && text !== "" ? (JSON.parse(text) as Body) : undefined;
          resolve({ status: response.statusCode!, headers: response.headers, json: json!, text, bytes });
        });
      });
      sent.end(body === undefined || body instanceof Uint8Array ? body : JSON.stringify(body));
    });
