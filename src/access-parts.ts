// The parts that identify a caller and decide its rights, for the server and for commands beside it.
import { ApiKeys } from "./access/api-keys.ts";
import { Rights } from "./access/rights.ts";
import { Sessions } from "./access/sessions.ts";
import type { Services } from "./context.ts";
import { secretFor } from "./installation.ts";
import { ancestorsOf } from "./resources/assets/rows.ts";
import { defaultGroupOf } from "./resources/projects/projects.ts";
import type { Catalog } from "./storage/catalog.ts";

/** The keys and rights of the catalog of a data folder with this secret. */
export function accessOf(
  parts: Pick<Services, "ids" | "system"> &
    Partial<Pick<Services, "lease">> & { readonly catalog: Catalog; readonly version?: Int32Array },
  secret: Uint8Array,
): Pick<Services, "keys" | "rights" | "sessions"> {
  const rights = new Rights({
    ...parts,
    defaultGroupOf,
    ancestorsOf: (projectId, ids) => ancestorsOf(parts.catalog, projectId, ids),
  });
  const keys = new ApiKeys({ ...parts, rights, secret: secretFor("api-keys", secret) });
  const sessions = new Sessions({ ...parts, rights, keys, secret: secretFor("sessions", secret) });
  return { rights, keys, sessions };
}
