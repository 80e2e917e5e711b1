// Every refusal of the raw operations: exact status, message and members, and proof that nothing changed.
import { after, before, test } from "node:test";
import {
  invalid,
  items,
  missing,
  type Refused,
  type Refuses,
  refusing,
} from "../../../test/support/refused-requests.ts";
import { startTestServer, type TestServer } from "../../../test/support/server.ts";
import { limits } from "../../limits.ts";
import { apiVersions } from "../../rest/route.ts";

let server: TestServer;
let refuses: Refuses;

before(async () => {
  server = await startTestServer();
  await server.ask("POST /raw/db/t/create?ensureParent=true", {
    items: [{ key: "a", columns: { x: 1 } }, { key: "b" }],
  });
  await server.ask("POST /raw/create", items({ dbName: "empty" }));
  refuses = await refusing({ server, versions: apiVersions, stored: everything });
});
after(() => server.close());

async function everything(): Promise<string> {
  const responses = await Promise.all(
    ["/raw?limit=1000", "/raw/db?limit=1000", "/raw/db/t?limit=10000"].map((path) =>
      server.ask(`GET ${path}`),
    ),
  );
  return responses.map(({ text }) => text).join("\n");
}

const noDatabase = (...names: string[]) => ({
  status: 404,
  message: "Did not find any dbs with the given names",
  members: { notFound: names },
});
const noTable = (...names: string[]) => ({
  status: 404,
  message: `No tables named ${names.join(", ")}`,
  members: { notFound: names },
});
const many = <Item>(count: number, item: (index: number) => Item) =>
  items(...Array.from({ length: count }, (_, index) => item(index)));

test("databases, tables and rows that are not there", async () => {
  await refuses("GET /raw/nowhere", noDatabase("nowhere"));
  await refuses("GET /raw/nowhere/t", noDatabase("nowhere"));
  await refuses("GET /raw/db/nowhere", noTable("nowhere"));
  await refuses("GET /raw/nowhere/t/a", noDatabase("nowhere"));
  await refuses("GET /raw/db/nowhere/a", noTable("nowhere"));
  await refuses("GET /raw/db/t/c", {
    status: 404,
    message: "No row with the key c",
    members: { notFound: ["c"] },
  });
  for (const operation of ["create", "create?ensureParent=false", "delete"]) {
    await refuses(`POST /raw/nowhere/t/${operation}`, {
      body: items({ key: "a" }),
      ...noDatabase("nowhere"),
    });
    await refuses(`POST /raw/db/nowhere/${operation}`, { body: items({ key: "a" }), ...noTable("nowhere") });
    await refuses(`POST /raw/nowhere/${operation}`, {
      body: items({ tableName: "t" }),
      ...noDatabase("nowhere"),
    });
  }
  await refuses("POST /raw/db/nowhere/csv", { body: "key\na\n", ...noTable("nowhere") });
});

test("deletes of which a part is not there, or not empty", async () => {
  await refuses("POST /raw/delete", { body: items({ dbName: "db" }, { dbName: "x" }), ...noDatabase("x") });
  await refuses("POST /raw/delete?recursive=true", {
    body: items({ dbName: "db" }, { dbName: "x" }, { dbName: "y" }),
    ...noDatabase("x", "y"),
  });
  await refuses("POST /raw/db/delete", {
    body: items({ tableName: "t" }, { tableName: "x" }, { tableName: "y" }),
    ...noTable("x", "y"),
  });
  for (const query of ["", "?recursive=false"])
    await refuses(`POST /raw/delete${query}`, {
      body: items({ dbName: "empty" }, { dbName: "db" }),
      message: "There are tables in db: delete them first, or all at once with recursive=true",
    });
});

test("names that cannot be", async () => {
  for (const [path, member] of [
    ["/raw", "dbName"],
    ["/raw/db", "tableName"],
  ] as const)
    for (const operation of ["create", "delete"]) {
      const to = `POST ${path}/${operation}`;
      const field = invalid(`items[1].${member}`);
      const named = (name: unknown) => items({ [member]: "db" }, { [member]: name });
      await refuses(to, { body: {}, ...missing("items") });
      await refuses(to, { body: items(), message: `${invalid("items")} at least 1 items but got 0` });
      await refuses(to, { body: items({}), ...missing(`items[0].${member}`) });
      await refuses(to, { body: named(null), ...missing(`items[1].${member}`) });
      await refuses(to, { body: named(5), message: `${field} string but got number` });
      await refuses(to, { body: named(""), message: `${field} at least 1 characters but got 0` });
      await refuses(to, {
        body: named("x".repeat(256)),
        message: `${field} at most 255 characters but got 256`,
      });
      await refuses(to, { body: named("a\0b"), message: `${field} text without U+0000...` });
      await refuses(to, { body: "{", message: "The body is not valid JSON: ..." });
      if (operation === "delete") continue;
      for (const dots of [".", ".."])
        await refuses(to, {
          body: named(dots),
          message: `${field} a name that paths can contain, so not . or .., but got ${dots}`,
        });
    }
});

test("names in paths that cannot be created", async () => {
  const expected = "1 to 255 characters, without U+0000...";
  for (const name of ["x".repeat(256), "a%00b"]) {
    const inDatabase = { message: `${invalid("database")} ${expected}` };
    const inTable = { message: `${invalid("table")} ${expected}` };
    await refuses(`POST /raw/${name}/create?ensureParent=true`, {
      body: items({ tableName: "t" }),
      ...inDatabase,
    });
    for (const [operation, body] of [
      ["create", items({ key: "a" })],
      ["csv", "key\na\n"],
    ] as const) {
      await refuses(`POST /raw/${name}/t/${operation}?ensureParent=true`, { body, ...inDatabase });
      await refuses(`POST /raw/db/${name}/${operation}?ensureParent=true`, { body, ...inTable });
      await refuses(`POST /raw/new/${name}/${operation}?ensureParent=true`, { body, ...inTable });
    }
  }
});

const rowRefusals: readonly Refused[] = [
  { body: {}, ...missing("items") },
  { body: "", ...missing("items") },
  { body: '{"items":null}', ...missing("items") },
  { body: "[]", message: `${invalid("body")} an object but got array` },
  { body: '{"items":{}}', message: `${invalid("items")} array but got object` },
  { body: items(5), message: `${invalid("items[0]")} an object but got number` },
  { body: items({ key: "a" }, {}), ...missing("items[1].key") },
  { body: items({ key: null }), ...missing("items[0].key") },
  { body: items({ key: 7 }), message: `${invalid("items[0].key")} string but got number` },
  { body: items({ key: "" }), message: `${invalid("items[0].key")} at least 1 characters but got 0` },
  {
    body: items({ key: "x".repeat(1025) }),
    message: `${invalid("items[0].key")} at most 1024 characters but got 1025`,
  },
  { body: items({ key: "a\0" }), message: `${invalid("items[0].key")} text without U+0000...` },
  { body: '{"items":[{"key":"\\ud800"}]}', message: `${invalid("items[0].key")} text without...` },
  {
    body: many(limits.itemsPerWriteMax + 1, (index) => ({ key: `${index}` })),
    message: "items may hold at most 10000 items but holds 10001",
  },
  { body: '{"items":[{"key":"a","columns":{"x":01}}]}', message: "The body is not valid JSON: ..." },
  { body: '{"items":[{"key":"a","columns":{"x":1}}]}}', message: "The body is not valid JSON: ..." },
  { body: '{"items":[{"key":"a","columns":{"x":1}}]', message: "The body is not valid JSON: ..." },
];

test("rows that cannot be written or deleted", async () => {
  for (const refused of rowRefusals)
    for (const operation of ["create", "delete"]) await refuses(`POST /raw/db/t/${operation}`, refused);
  await refuses("POST /raw/new/t/create?ensureParent=true", { body: items({}), ...missing("items[0].key") });
});

test("columns that cannot be written", async () => {
  const field = invalid("items[1].columns");
  const kinds = [
    [5, "number"],
    ["x", "string"],
    [[], "array"],
    [true, "boolean"],
  ] as const;
  for (const [columns, kind] of kinds)
    await refuses("POST /raw/db/t/create", {
      body: items({ key: "a" }, { key: "b", columns }),
      message: `${field} an object but got ${kind}`,
    });
  const deep = `${'{"x":'.repeat(limits.jsonDepthMax - 2)}1${"}".repeat(limits.jsonDepthMax - 2)}`;
  await refuses("POST /raw/db/t/create", {
    body: `{"items":[{"key":"a","columns":${deep}}]}`,
    message: "The body is not valid JSON: it is nested deeper than 64 levels",
  });
  await refuses("POST /raw/db/t/create", {
    body: items({ key: "a" }, { key: "b", columns: { x: "y".repeat(limits.rawColumnsLengthMax) } }),
    message: `${field} at most 1048576 characters of JSON but got 1048584`,
  });
});

test("CSV that cannot be written", async () => {
  const to = "POST /raw/db/t/csv?ensureParent=true";
  const notCsv = "The body is not CSV with a header: ";
  await refuses(to, { body: "", message: `${notCsv}it has no header` });
  await refuses(to, { body: "id,x\n1,2\n", message: `${notCsv}its first header cell is not "key" but "id"` });
  await refuses(to, { body: "key,x,x\n1,2,3\n", message: `${notCsv}two columns are named "x"` });
  await refuses(to, { body: "key,x\na,1\nb,1,2\n", message: `${notCsv}...` });
  await refuses(to, { body: 'key,x\na,"1\n', message: `${notCsv}...` });
  await refuses(to, { body: 'key,x\nkey,a"b\n', message: `${notCsv}Invalid Opening Quote: ...` });
  const quoteFound = 'Invalid Opening Quote: a quote is found on field 1 at line 2, value is "';
  await refuses(to, {
    body: `key,x\na,${"y".repeat(9_999)}"b\n`,
    message: `${notCsv}${quoteFound}${"y".repeat(200 - quoteFound.length)}......`,
  });
  await refuses(to, {
    body: `key,x\na,${"y".repeat(limits.rawCsvLineBytesMax)}\n`,
    message: `${notCsv}line 2 is longer than 4194304 bytes`,
  });
  await refuses(to, {
    body: `key,${Array.from({ length: limits.rawCsvColumnsMax }, (_, at) => `c${at}`).join()}\n`,
    message: "columns may hold at most 100000 items but holds 100001",
  });
  await refuses(to, {
    body: "key,x\na,1\n,2\n",
    message: `${invalid("items[1].key")} 1 to 1024 characters, without U+0000,...`,
  });
  await refuses(to, {
    body: `key\n${"a\n".repeat(limits.rawRowsMax + 1)}`,
    message: "items may hold at most 10000 items but holds 10001",
  });
});

test("invalid queries are refused", async () => {
  for (const path of ["/raw", "/raw/db", "/raw/db/t"]) {
    await refuses(`GET ${path}?limit=-1`, {
      message: `${invalid("limit")} an integer of at least 0...`,
    });
    await refuses(`GET ${path}?limit=x`, { message: `${invalid("limit")} ...` });
    await refuses(`GET ${path}?cursor=x`, {
      message: `${invalid("cursor")} a cursor returned by this same query`,
    });
  }
  await refuses("GET /raw/db/t?minLastUpdatedTime=x", { message: `${invalid("minLastUpdatedTime")} ...` });
  await refuses("GET /raw/db/t?maxLastUpdatedTime=1.5", { message: `${invalid("maxLastUpdatedTime")} ...` });
  await refuses("POST /raw/delete?recursive=1", {
    body: items({ dbName: "db" }),
    message: `${invalid("recursive")} true or false but got 1`,
  });
  await refuses("POST /raw/db/t/create?ensureParent=yes", {
    body: items({ key: "a" }),
    message: `${invalid("ensureParent")} true or false but got yes`,
  });
});

test("methods that are not there", async () => {
  for (const path of ["/raw", "/raw/db/t", "/raw/db/t/a"])
    for (const method of path === "/raw" ? ["PUT", "DELETE", "POST"] : ["PUT", "PATCH", "POST"])
      await refuses(`${method} ${path}`, {
        status: 405,
        message: `${method} is not supported by...`,
      });
});
