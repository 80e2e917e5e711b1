// Sample records of identities for tests.
import type { SamplePart } from "../../../test/support/sample-part.ts";

/** Accounts that are read and deleted by id; archives do not have them. */
export const identitySamples: Pick<SamplePart, "single"> = {
  single: { users: [{ uniqueName: "a" }, { uniqueName: "b" }] },
};
