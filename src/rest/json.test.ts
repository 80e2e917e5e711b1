// Refusals of bodies that do not conform to their schema: the field, the expected value, the received one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type TSchema, Type } from "typebox";
import { Failure } from "../errors.ts";
import { idDigits } from "./fields.ts";
import { jsonDecoder } from "./json.ts";

const schema = Type.Object({
  name: Type.String({ maxLength: 5 }),
  count: Type.Optional(Type.Integer({ minimum: 1 })),
  kind: Type.Optional(Type.Enum(["pump", "motor"])),
  parent: Type.Optional(Type.Union([Type.Integer(), Type.String({ pattern: idDigits })])),
  list: Type.Optional(Type.Array(Type.Object({ id: Type.Integer(), at: Type.Integer() }), { minItems: 1 })),
  labels: Type.Optional(
    Type.Unsafe({ type: "object", maxProperties: 1, additionalProperties: Type.String() }),
  ),
});
const decode = jsonDecoder(schema);

async function messageFor(body: unknown): Promise<string> {
  try {
    await decode(Buffer.from(JSON.stringify(body)));
  } catch (problem) {
    assert.ok(problem instanceof Failure, String(problem));
    return problem.message;
  }
  return "fits";
}

test("each kind of misfit has its words", async () => {
  const cases: [body: unknown, message: string][] = [
    [{ name: "x" }, "fits"],
    [{ name: "x", other: { deep: [1] } }, "fits"],
    [{ name: "x", count: null, kind: null }, "fits"],
    [{}, "Missing required field - name"],
    [{ name: null }, "Missing required field - name"],
    [{ name: "x", list: [{}] }, "Missing required fields - list[0].id, list[0].at"],
    [{ name: true }, "Invalid field - name - expected string but got boolean"],
    [{ name: "toolong" }, "Invalid field - name - expected at most 5 characters but got 7"],
    [{ name: "x", count: 1.5 }, "Invalid field - count - expected integer but got 1.5"],
    [{ name: "x", count: "1" }, "Invalid field - count - expected integer but got string"],
    [{ name: "x", count: 0 }, "Invalid field - count - expected a value >= 1 but got 0"],
    [{ name: "x", kind: "valve" }, 'Invalid field - kind - expected one of pump, motor but got "valve"'],
    [{ name: "x", parent: true }, "Invalid field - parent - expected integer or string but got true"],
    [
      { name: "x", parent: "p7" },
      'Invalid field - parent - expected an id in digits, not above 9007199254740991 but got "p7"',
    ],
    [{ name: "x", list: [] }, "Invalid field - list - expected at least 1 items but got 0"],
    [{ name: "x", list: [1] }, "Invalid field - list[0] - expected an object but got number"],
    [
      { name: "x", labels: { a: "1", b: "2" } },
      "Invalid field - labels - expected at most 1 members but got 2",
    ],
    [{ name: "x", labels: { "a/b~c": 1 } }, "fits"],
    [{ name: "x", labels: { "a/b~c": [] } }, "Invalid field - labels.a/b~c - expected string but got array"],
    ["text", "Invalid field - body - expected an object but got string"],
  ];
  for (const [body, message] of cases) assert.equal(await messageFor(body), message, JSON.stringify(body));
});

const itemsOf = (members: Record<string, TSchema>) =>
  Type.Object({ items: Type.Array(Type.Partial(Type.Object(members))) });

test("nulls are kept where a route has a meaning for them", async () => {
  const schema = Type.Object({ set: Type.Union([Type.Null(), Type.String()]) });
  const kept = jsonDecoder(schema, { nulls: "kept" });
  assert.deepEqual(await kept(Buffer.from('{"set":null}')), { set: null });
  const open = Type.Unsafe({ type: "object", additionalProperties: true });
  const decode = jsonDecoder(itemsOf({ list: schema, open, name: Type.String() }));
  const sent = { list: { set: null }, open: { a: null, b: [{ c: null }] } };
  const items = [
    { ...sent, name: null },
    { list: null, open: null },
  ];
  assert.deepEqual(await decode(Buffer.from(JSON.stringify({ items }))), { items: [sent, {}] });
});

test("a null of a member that an open object names counts as absent", async () => {
  const known = Type.Partial(Type.Object({ a: Type.String() }, { additionalProperties: true }));
  const decode = jsonDecoder(itemsOf({ known }));
  assert.deepEqual(await decode(Buffer.from('{"items":[{"known":{"a":null}}]}')), { items: [{ known: {} }] });
});

test("keys are read as written, whatever an earlier body has had for keys", async () => {
  const labels = Type.Object({ labels: Type.Unsafe({ type: "object", additionalProperties: true }) });
  const bodies = ['{"labels":{"\\\\":"a"}}', '{"labels":{"\\n":"b"}}'];
  const read = await Promise.all(bodies.map((body) => jsonDecoder(labels)(Buffer.from(body))));
  assert.deepEqual(read, [{ labels: { "\\": "a" } }, { labels: { "\n": "b" } }]);
});

test("members that the schema does not name are removed at each level, unless objects are open", async () => {
  const one = Type.Object({ id: Type.Integer() });
  const schema = Type.Object({
    id: Type.Integer(),
    one: Type.Optional(one),
    list: Type.Optional(Type.Array(one)),
    choice: Type.Optional(Type.Union([Type.Integer(), one, Type.Array(one)])),
    alike: Type.Optional(Type.Union([Type.Object({ set: one }), Type.Object({ add: one })])),
    open: Type.Optional(Type.Unsafe({ type: "object", additionalProperties: one })),
    closed: Type.Optional(Type.Object({ one }, { additionalProperties: false })),
    any: Type.Optional(Type.Unknown()),
  });
  const decode = jsonDecoder(schema);
  const read = (body: unknown) => decode(Buffer.from(JSON.stringify(body)));
  const more = { id: 1, constructor: 2, name: ["x"] };
  const sent = {
    ...more,
    one: more,
    list: [more, { id: 1 }],
    choice: [more],
    alike: { add: more, set: 5 },
    open: { a: more },
    closed: { one: more },
    any: more,
  };
  const known = { id: 1 };
  assert.deepEqual(await read(sent), {
    ...known,
    one: known,
    list: [known, known],
    choice: [known],
    alike: { add: known },
    open: { a: known },
    closed: { one: known },
    any: more,
  });
  assert.deepEqual(await read({ id: 1, choice: more }), { id: 1, choice: known });
  assert.deepEqual(await read({ id: 1, choice: 5 }), { id: 1, choice: 5 });
});

test("a list or an object that is too large is refused by its size alone, also within a choice", async () => {
  const ids = Type.Array(Type.Integer(), { maxItems: 2 });
  const pairs = Type.Unsafe({ type: "object", maxProperties: 2, additionalProperties: Type.String() });
  const decode = jsonDecoder(
    Type.Object({
      ids: Type.Optional(ids),
      change: Type.Optional(Type.Union([Type.Object({ add: ids }), Type.Null()])),
      inner: Type.Optional(Type.Array(Type.Object({ pairs, ids }))),
    }),
  );
  const refusal = (body: unknown) =>
    decode(Buffer.from(JSON.stringify(body))).then(
      () => undefined,
      (problem: Failure) => problem.message,
    );
  const wrong = ["x", "x", "x"];
  assert.equal(await refusal({ ids: wrong }), "ids may hold at most 2 items but holds 3");
  assert.equal(await refusal({ change: { add: wrong } }), "change.add may hold at most 2 items but holds 3");
  const inner = [
    { pairs: {}, ids: [1] },
    { pairs: { a: 1, b: 2, c: 3 }, ids: [] },
  ];
  assert.equal(
    await refusal({ inner }),
    "Invalid field - inner[1].pairs - expected at most 2 members but got 3",
  );
  assert.equal(await refusal({ ids: [1, 2], change: { add: [1] }, inner: inner.slice(0, 1) }), undefined);
});
