// Transformations in an archive. A restored one runs with the rights of the account that restores it, and has
// no marks: its first run reads all rows. An archive has no secrets: a webhook gets a random one, so that its
// receiver refuses the messages until the secret is set again.
import { randomBytes } from "node:crypto";
import { id, object, times } from "../../archive/checks.ts";
import { listPart, recordSection } from "../../archive/records.ts";
import { limits } from "../../limits.ts";

const unknownSecret = () => `whsec_${randomBytes(limits.webhookSecretBytesMin).toString("base64")}`;

export const transformationArchive = listPart(
  [
    recordSection({
      name: "transformations",
      itemsMax: limits.transformationsPerRequestMax,
      check: object({ id, ...times }),
      toCreate: ({ owner: _, ownerId: __, marks: ___, nextTime: ____, webhook, ...transformation }) => ({
        ...transformation,
        ...(webhook !== undefined && { webhook: { ...(webhook as object), secret: unknownSecret() } }),
      }),
    }),
  ],
  ["transformations"],
);
