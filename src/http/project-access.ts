// Authenticates and authorizes callers for the operations of a project.
import type { FastifyRequest } from "fastify";
import type { AuthenticationResult, RequestSource } from "../access/authenticator.ts";
import { authorize } from "../access/authorize.ts";
import { type Caller, requireCapability } from "../access/caller.ts";
import type { KeyUse, RequestUse } from "../access/key-limits.ts";
import { seeAs, seeAsHeader } from "../access/see-as.ts";
import type { RequestContext } from "../context.ts";
import type { Route } from "../rest/route.ts";
import { countedPoints } from "../storage/counted-points.ts";
import type { PointsStore } from "../storage/points.ts";
import { PointsInTurns } from "../storage/points-in-turns.ts";
import type { RequestAudit } from "./auditing.ts";
import type { Client, Kernel } from "./pipeline.ts";
import type { RequestLifetime } from "./request-lifetime.ts";
import { responseMemory } from "./request-memory.ts";

/** A caller with access to a project. */
export interface ProjectClient extends Client {
  readonly caller: Caller;
}

interface Admission {
  readonly source: RequestSource;
  /** The name of the project in the path. */
  readonly urlName: string;
  readonly capability: Route["capability"];
  /** Whether the operation changes nothing and runs no code. */
  readonly isQuery: boolean;
  readonly audit?: Pick<RequestAudit, "known">;
}

type AdmittingKernel = Pick<Kernel, "authenticator" | "services" | "keyUses" | "readTurns">;

/**
 * Refuses requests without valid credentials (401), and callers without access to the project (403). A
 * request beyond the limits of its key waits, or is refused (429), before its capability is checked. With the
 * header `X-See-As-Group` the caller is a member of these groups instead. Returns no promise if there is
 * nothing to wait for, as for most requests.
 */
export function admitToProject(
  kernel: AdmittingKernel,
  admission: Admission,
): ProjectClient | Promise<ProjectClient> {
  const project = admission.urlName.normalize("NFC");
  const authenticated = kernel.authenticator.authenticate(admission.source, project);
  const admit = (result: AuthenticationResult) => {
    if (result.caller) admission.audit?.known(result.caller);
    return admitSender(kernel, admission, authorize(result, project));
  };
  return authenticated instanceof Promise ? authenticated.then(admit) : admit(authenticated);
}

function admitSender(
  kernel: AdmittingKernel,
  admission: Admission,
  sender: Caller,
): ProjectClient | Promise<ProjectClient> {
  const { credential, keyLimits } = sender;
  if (keyLimits && credential?.kind === "key") {
    const use = kernel.keyUses.of(credential.id, keyLimits);
    return admitWithin(use, () => admitAsSeen(kernel, admission, sender));
  }
  return admitAsSeen(kernel, admission, sender);
}

/** The use ends with the response, or here if the request is refused. */
async function admitWithin(
  keyUse: KeyUse,
  admit: () => ProjectClient | Promise<ProjectClient>,
): Promise<ProjectClient> {
  const use = await keyUse.begin();
  try {
    return { ...(await admit()), use };
  } catch (problem) {
    use.end();
    throw problem;
  }
}

function admitAsSeen(
  kernel: AdmittingKernel,
  { source, capability, isQuery }: Admission,
  sender: Caller,
): ProjectClient | Promise<ProjectClient> {
  const asClient = (caller: Caller): ProjectClient => {
    if (capability !== "member") requireCapability(caller, ...capability);
    const client = `${sender.projectId} ${sender.user}`;
    return isQuery
      ? { caller, client, turn: kernel.readTurns.of(readerOf(sender, client)) }
      : { caller, client };
  };
  const groups = source.headers[seeAsHeader];
  if (groups === undefined) return asClient(sender);
  return seeAs(kernel.services.rights, sender, { groups, isQuery }).then(asClient);
}

/** Keys read in turns, also those of one account. */
const readerOf = ({ credential }: Caller, client: string): string =>
  credential?.kind === "key" ? `key ${credential.id}` : client;

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
  return turn ? new PointsInTurns(counted, turn) : counted;
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
