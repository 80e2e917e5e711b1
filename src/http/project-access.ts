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
  { authenticator, services, keyUses }: Pick<Kernel, "authenticator" | "services" | "keyUses">,
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
  const project = urlName.normalize("NFC");
  const authenticated = await authenticator.authenticate(source, project);
  if (authenticated.caller) audit?.known(authenticated.caller);
  const sender = authorize(authenticated, project);
  const use = await beginUse(sender, keyUses);
  try {
    const groups = source.headers[seeAsHeader];
    const caller = groups === undefined ? sender : await seeAs(services.rights, sender, { groups, isQuery });
    if (capability !== "member") requireCapability(caller, ...capability);
    return { caller, client: `${sender.projectId} ${sender.user}`, ...(use && { use }) };
  } catch (problem) {
    use?.end();
    throw problem;
  }
}

/** The use of the request, if the sender's key has limits. */
const beginUse = async ({ keyLimits, credential }: Caller, keyUses: KeyUses) =>
  keyLimits && credential?.kind === "key" ? keyUses.of(credential.id, keyLimits).begin() : undefined;

/** The context of a handler. */
export const contextOf = (
  { services, responses }: Kernel,
  { caller, client, use }: ProjectClient,
  lifetime: RequestLifetime,
): RequestContext => ({
  ...services,
  points: use ? pointsCountedFor(use, services.points) : services.points,
  caller,
  projectId: caller.projectId,
  signal: lifetime.signal,
  memory: responseMemory(responses, client, lifetime),
});

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
