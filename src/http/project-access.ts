// Authenticates and authorizes callers for the operations of a project.
import type { FastifyRequest } from "fastify";
import type { RequestSource } from "../access/authenticator.ts";
import { authorize } from "../access/authorize.ts";
import { type Caller, requireCapability } from "../access/caller.ts";
import type { KeyUses, RequestUse } from "../access/key-limits.ts";
import { seeAs, seeAsHeader } from "../access/see-as.ts";
import type { RequestContext } from "../context.ts";
import type { Route } from "../rest/route.ts";
import { countedPoints } from "../storage/counted-points.ts";
import type { PointsStore } from "../storage/points.ts";
import { pointsInTurns } from "../storage/points-in-turns.ts";
import type { RequestAudit } from "./auditing.ts";
import type { Client, Kernel } from "./pipeline.ts";
import type { RequestLifetime } from "./request-lifetime.ts";
import { responseMemory } from "./request-memory.ts";

/** A caller with access to a project. */
export interface ProjectClient extends Client {
  readonly caller: Caller;
}

/**
 * Refuses requests without valid credentials (401), and callers without access to the project (403). A
 * request beyond the limits of its key waits, or is refused (429), before its capability is checked. With the
 * header `X-See-As-Group` the caller is a member of these groups instead.
 */
export async function admitToProject(
  kernel: Pick<Kernel, "authenticator" | "services" | "keyUses" | "readTurns">,
  {
    source,
    urlName,
    capability,
    isQuery,
    audit,
  }: {
    readonly source: RequestSource;
    /** The name of the project in the path. */
    readonly urlName: string;
    readonly capability: Route["capability"];
    /** Whether the operation changes nothing and runs no code. */
    readonly isQuery: boolean;
    readonly audit?: Pick<RequestAudit, "known">;
  },
): Promise<ProjectClient> {
  const { authenticator, services, keyUses, readTurns } = kernel;
  const project = urlName.normalize("NFC");
  const authenticated = await authenticator.authenticate(source, project);
  if (authenticated.caller) audit?.known(authenticated.caller);
  const sender = authorize(authenticated, project);
  const use = await beginUse(sender, keyUses);
  try {
    const groups = source.headers[seeAsHeader];
    const caller = groups === undefined ? sender : await seeAs(services.rights, sender, { groups, isQuery });
    if (capability !== "member") requireCapability(caller, ...capability);
    const client = `${sender.projectId} ${sender.user}`;
    const turn = isQuery && { turn: readTurns.of(readerOf(sender, client)) };
    return { caller, client, ...(use && { use }), ...turn };
  } catch (problem) {
    use?.end();
    throw problem;
  }
}

/** Keys read in turns, also those of one account. */
const readerOf = ({ credential }: Caller, client: string): string =>
  credential?.kind === "key" ? `key ${credential.id}` : client;

/** The use of the request, if the sender's key has limits. */
const beginUse = async ({ keyLimits, credential }: Caller, keyUses: KeyUses) =>
  keyLimits && credential?.kind === "key" ? keyUses.of(credential.id, keyLimits).begin() : undefined;

/** The context of a handler. */
export const contextOf = (
  { services, responses }: Kernel,
  admitted: ProjectClient,
  lifetime: RequestLifetime,
): RequestContext => ({
  ...services,
  points: pointsOf(admitted, services.points),
  caller: admitted.caller,
  projectId: admitted.caller.projectId,
  signal: lifetime.signal,
  memory: responseMemory(responses, admitted.client, lifetime),
});

function pointsOf({ use, turn }: Client, points: PointsStore): PointsStore {
  const counted = use ? pointsCountedFor(use, points) : points;
  return turn ? pointsInTurns(counted, turn) : counted;
}

function pointsCountedFor(use: RequestUse, points: PointsStore): PointsStore {
  const count = (points: number) => use.use("points", points);
  return countedPoints(points, { written: count, read: count });
}

/** The source of a request, whose credentials are in headers and cookies. */
export const sourceOf = ({ method, headers, ip }: FastifyRequest): RequestSource => ({
  method,
  headers,
  address: ip,
});
