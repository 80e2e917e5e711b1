// How a body that does not fit its schema is refused: the field, what it should be, what came.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Type } from "typebox";
import { Failure } from "../errors.ts";
import { jsonDecoder } from "./json.ts";

const schema = Type.Object({
  name: Type.String({ maxLength: 5 }),
  count: Type.Optional(Type.Integer({ minimum: 1 })),
  kind: Type.Optional(Type.Enum(["pump", "motor"])),
  parent: Type.Optional(Type.Union([Type.Integer(), Type.String({ pattern: "^[0-9]+$" })])),
  list: Type.Optional(Type.Array(Type.Object({ id: Type.Integer(), at: Type.Integer() }), { minItems: 1 })),
  labels: Type.Optional(Type.Record(Type.String(), Type.String(), { maxProperties: 1 })),
});
const decode = jsonDecoder(schema);

function messageFor(body: unknown): string {
  try {
    decode(Buffer.from(JSON.stringify(body)));
  } catch (problem) {
    assert.ok(problem instanceof Failure, String(problem));
    return problem.message;
  }
  return "fits";
}

test("each kind of misfit has its words", () => {
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
      'Invalid field - parent - expected text that matches ^[0-9]+$ but got "p7"',
    ],
    [{ name: "x", list: [] }, "Invalid field - list - expected at least 1 items but got 0"],
    [{ name: "x", list: [1] }, "Invalid field - list[0] - expected an object but got number"],
    [
      { name: "x", labels: { a: "1", b: "2" } },
      "Invalid field - labels - expected at most 1 members but got 2",
    ],
    [{ name: "x", labels: { "a/b~c": 1 } }, "Invalid field - labels.a/b~c - expected string but got number"],
    ["text", "Invalid field - body - expected an object but got string"],
  ];
  for (const [body, message] of cases) assert.equal(messageFor(body), message, JSON.stringify(body));
});

test("nulls are kept where a route has a meaning for them", () => {
  const kept = jsonDecoder(Type.Object({ set: Type.Union([Type.Null(), Type.String()]) }), "kept");
  assert.deepEqual(kept(Buffer.from('{"set":null}')), { set: null });
});

test("keys are read as written, whatever an earlier body has had for keys", () => {
  const labels = Type.Object({ labels: Type.Record(Type.String(), Type.String()) });
  const bodies = ['{"labels":{"\\\\":"a"}}', '{"labels":{"\\n":"b"}}'];
  const read = bodies.map((body) => jsonDecoder(labels)(Buffer.from(body)));
  assert.deepEqual(read, [{ labels: { "\\": "a" } }, { labels: { "\n": "b" } }]);
});
