// Checks requests that must be refused: exact status, message and members, and nothing changed.
import assert from "node:assert/strict";
import type { ApiVersion } from "../../src/rest/route.ts";
import type { TestServer } from "./server.ts";

/** A request and its response. */
export interface Refused {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** A beginning ends with three dots. */
  readonly message: string;
  /** Members of `error` besides code and message. */
  readonly members?: object;
  /** 400 when absent. */
  readonly status?: number;
  /** In which versions it is sent; those of the file's tests when absent. */
  readonly version?: ApiVersion;
}

/** The same in a table. */
export interface RefusedRequest extends Refused {
  readonly ask: string;
}

export type Refuses = (methodAndPath: string, refused: Refused) => Promise<void>;

interface Setting {
  readonly server: TestServer;
  /** 0.5 when absent. */
  readonly versions?: readonly ApiVersion[];
  /** The values of `{pump}` and `"{pump}"` in paths, bodies, messages and members. */
  readonly ids?: Readonly<Record<string, number>>;
  /** All that a request could have changed. */
  readonly stored: () => Promise<unknown>;
}

/** Returns a function that sends requests, and checks their responses and the stored data. */
export async function refusing({ server, versions = ["0.5"], ids = {}, stored }: Setting): Promise<Refuses> {
  const unchanged = await stored();
  const filled = (text: string) =>
    text.replaceAll(/"?\{([\w .]+)\}"?/g, (all, name) => `${ids[name] ?? all}`);
  return async (methodAndPath, { body, headers, message, members = {}, status = 400, version }) => {
    const sent = isPlain(body) ? body : JSON.parse(filled(JSON.stringify(body)));
    const asked = `${methodAndPath} ${JSON.stringify(sent)?.slice(0, 200)}`;
    const expected = filled(message);
    for (const one of version ? [version] : versions) {
      const response = await askIn(server, one)(filled(methodAndPath), sent, headers);
      const what = `${asked} answered ${response.text.slice(0, 500)}`;
      const { code, message: said, ...others } = response.error ?? { code: undefined, message: "" };
      assert.deepEqual([response.status, code], [status, status], what);
      if (expected.endsWith("...")) assert.ok(said.startsWith(expected.slice(0, -3)), what);
      else assert.equal(said, expected, what);
      assert.deepEqual(others, JSON.parse(filled(JSON.stringify(members))), what);
    }
    assert.deepEqual(await stored(), unchanged, `${asked} changed something`);
  };
}

const isPlain = (body: unknown): body is string | Uint8Array | undefined =>
  body === undefined || typeof body === "string" || body instanceof Uint8Array;

const askIn = ({ ask }: TestServer, version: ApiVersion) =>
  ({ "0.4": ask.v04, "0.5": ask.v05, "0.6": ask.v06 })[version];

// The words of the tables.

export const items = (...all: unknown[]) => ({ items: all });

/** `${invalid("limit")} an integer but got ten`. */
export const invalid = (field: string) => `Invalid field - ${field} - expected`;

export const missing = (field: string) => ({
  message: `Missing required field - ${field}`,
  members: { missingFields: [field] },
});

export const unknown = (...all: number[]) => ({
  message: `No such ids: ${all.join(", ")}`,
  members: { notFound: all },
});

export const repeated = (id: number | string) => ({
  message: `items names the same id more than once: ${id}`,
  members: { notFound: [id] },
});
