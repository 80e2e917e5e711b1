// Expected refusals for `assert.throws` and `assert.rejects`, by their code in the error catalogue.
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
