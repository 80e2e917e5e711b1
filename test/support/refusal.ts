// What `assert.throws` and `assert.rejects` hold a refusal against: its name in the catalogue of failures.
import assert from "node:assert/strict";
import { Failure } from "../../src/errors.ts";

/** Is this refusal, and with these members when they are given. */
export const refusal =
  (failure: string, members?: object) =>
  (thrown: unknown): true => {
    assert.ok(thrown instanceof Failure, String(thrown));
    assert.equal(thrown.failure, failure);
    if (members) assert.deepEqual(thrown.members, members);
    return true;
  };
