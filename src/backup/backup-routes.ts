// Serves `/-/backups` to `millrace backup`: starts, shows and cancels a backup of the data folder.
//
// A backup has every project, and all secrets. So no key of a project permits it: the credential is derived
// from the secret of the data folder, which proves that its sender can read that folder anyway.
import { timingSafeEqual } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { fail } from "../errors.ts";
import type { AuditedAs } from "../http/audit-rules.ts";
import type { RequestAudit } from "../http/auditing.ts";
import { addEndpoint, type Client, type Kernel } from "../http/pipeline.ts";
import { none } from "../lib/not-covered.ts";
import { limits } from "../limits.ts";
import { jsonDecoder } from "../rest/json.ts";
import type { BackupRequest, Backups } from "./backups.ts";

/** The credential for a data folder with this secret. */
export const backupToken = (secret: Uint8Array): string => Buffer.from(secret).toString("base64url");

export const backupsPath = "/-/backups";

const requestSchema = Type.Object(
  {
    place: Type.String({ minLength: 1 }),
    passphraseFile: Type.Optional(Type.String({ minLength: 1 })),
    mustExist: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);

export function addBackups(
  http: FastifyInstance,
  kernel: Kernel,
  { backups, secret }: { readonly backups: Backups; readonly secret: Uint8Array },
): void {
  const expected = Buffer.from(`Bearer ${backupToken(secret)}`);
  const admit = ({ headers, ip }: FastifyRequest, audit: RequestAudit): Client => {
    const given = Buffer.from(headers.authorization ?? "");
    const isOwner = given.length === expected.length && timingSafeEqual(given, expected);
    if (!isOwner) throw fail("backup-not-allowed", {});
    audit.knownAs({ account: "", credential: "command" });
    return { client: ip };
  };
  const common = { url: backupsPath, admit, effect: "read", decode: () => undefined } as const;
  const auditAs = (action: string) => (): AuditedAs => ({ kind: "export", action, resource: "backups" });
  const decode = jsonDecoder<BackupRequest>(requestSchema);
  addEndpoint(http, kernel, {
    ...{ ...common, method: "POST", audit: auditAs("POST /-/backups"), statusOf: () => 202 },
    readBody: (_exchange, receive) =>
      receive(limits.openBodyBytesMax, (bytes, work) => decode(bytes, { work })),
    async handle(_exchange, body) {
      backups.start(body);
      return backups.state;
    },
    send: ({ reply }, state) => reply.code(202).send(state),
  });
  addEndpoint(http, kernel, {
    ...{ ...common, method: "GET", audit: none("it shows the state of the backup") },
    readBody: () => undefined,
    handle: async () => backups.state,
    send: ({ reply }, state) => reply.send(state),
  });
  addEndpoint(http, kernel, {
    ...{ ...common, method: "DELETE", audit: auditAs("DELETE /-/backups") },
    readBody: () => undefined,
    async handle() {
      await backups.stop();
      return backups.state;
    },
    send: ({ reply }, state) => reply.send(state),
  });
}
