// Records one request in the audit log: before it changes anything, and when it has ended.
import type { FastifyRequest } from "fastify";
import type { Caller } from "../access/caller.ts";
import type { AuditLog, Ending, OpenOperation } from "../audit/audit-log.ts";
import type { AuditActor, AuditKind, BegunOperation } from "../audit/schema.ts";
import { Failure, isServerError } from "../errors.ts";
import type { NotCovered } from "../lib/not-covered.ts";
import { limits } from "../limits.ts";
import type { ProjectId } from "../storage/catalog.ts";
import type { AuditedAs } from "./audit-rules.ts";

/** How an endpoint is recorded, or why it is not. */
export type AuditRule = ((request: FastifyRequest) => AuditedAs) | NotCovered;

interface Following<Result> {
  readonly statusOf: (result: Result) => number;
  readonly atEnd: (end: (isWhole: boolean) => void) => void;
}

interface Sender {
  readonly actor: AuditActor;
  /** Absent for an operation outside of projects. */
  readonly projectId?: ProjectId;
}

const unknownActor: AuditActor = { account: "", credential: "none" };

export class RequestAudit {
  readonly #log: AuditLog;
  readonly #rule: AuditRule;
  readonly #request: FastifyRequest;
  readonly #beganMs: number;
  readonly #address: string;
  #sender: Sender | undefined;
  #begun: { readonly operation: BegunOperation; readonly open?: OpenOperation } | undefined;
  #refusal: Failure | undefined;
  #isFollowed = false;
  #hasEnded = false;
  #known: AuditedAs | "not recorded" | undefined;

  constructor(log: AuditLog, rule: AuditRule, request: FastifyRequest) {
    this.#log = log;
    this.#rule = rule;
    this.#request = request;
    this.#beganMs = log.nowMs;
    // A closed connection has no address.
    this.#address = (request.ip as string | undefined) ?? "";
  }

  get #as(): AuditedAs | undefined {
    const rule = this.#rule;
    this.#known ??= typeof rule === "function" ? rule(this.#request) : "not recorded";
    return this.#known === "not recorded" ? undefined : this.#known;
  }

  /** Tells who sends the request; also when it is refused afterwards. */
  readonly known = (caller: Pick<Caller, "user" | "userId" | "projectId" | "credential">): void => {
    this.#sender = { actor: actorOf(caller), projectId: caller.projectId };
  };

  /** As `known`, for a sender that is no account. */
  readonly knownAs = (actor: AuditActor): void => {
    this.#sender = { actor };
  };

  /** Tells why a sign-in is refused whose response is a redirect. */
  readonly refused = (failure: Failure): void => {
    this.#refusal = failure;
  };

  /**
   * Stores the intent, if its kind requires that. Rejects if it cannot: then nothing is changed. Returns
   * undefined if there is nothing to wait for.
   */
  begin(body: unknown): Promise<void> | undefined {
    const as = this.#as;
    if (!as || as.kind === "sign-in" || !this.#log.covers(as.kind)) return undefined;
    return this.#begin(as, body);
  }

  async #begin(as: AuditedAs, body: unknown): Promise<void> {
    const operation = this.#operation(as, namedIn(body));
    if (isCollected(as.kind)) {
      this.#log.requireSpace();
      this.#begun = { operation };
    } else {
      const projectId = await this.#projectId();
      if (projectId !== undefined)
        this.#begun = { operation, open: await this.#log.begin(projectId, operation) };
    }
  }

  /**
   * Records the end of `work`, also when the client does not wait for it. `statusOf` is that of its result.
   * Of an export, the end is that of the response: `atEnd` calls it back with whether all of it was sent.
   */
  async follow<Result>(work: Promise<Result>, following: Following<Result>): Promise<Result> {
    this.#isFollowed = true;
    try {
      const result = await work;
      if (this.#refusal) await this.#failed(this.#refusal);
      // Most requests are not recorded; of these, the result is not looked through.
      if (this.#begun || this.#as?.kind === "sign-in") await this.#done(result, following);
      return result;
    } catch (problem) {
      await this.#failed(problem);
      throw problem;
    }
  }

  async #done<Result>(result: Result, { statusOf, atEnd }: Following<Result>): Promise<void> {
    const ending: Ending = { result: "done", status: statusOf(result), ids: namedIn(result).ids };
    if (this.#as?.kind === "sign-in") await this.#signedIn(ending);
    else if (hasStream(result) && this.#as?.kind === "export")
      atEnd((isWhole) => void this.#end(isWhole ? ending : { ...ending, result: "failed" }));
    else await this.#end(ending);
  }

  /**
   * Records that the request is refused or fails before its work begins. Afterwards it may be that the client
   * goes away or the deadline passes while the work continues: `follow` records how that ends.
   */
  async failed(problem: unknown): Promise<void> {
    if (!this.#isFollowed) await this.#failed(problem);
  }

  async #failed(problem: unknown): Promise<void> {
    if (this.#hasEnded) return;
    const failure = problem instanceof Failure ? problem : undefined;
    const status = failure?.status ?? 500;
    const result = isServerError(status) ? "failed" : "refused";
    const ending: Ending = { result, status, error: failure?.failure ?? "internal" };
    if (this.#begun) return this.#end(ending);
    this.#hasEnded = true;
    const operation = failure && !isServerError(status) ? this.#refused(failure) : undefined;
    const projectId = operation && (await this.#projectId());
    if (projectId === undefined) return;
    // The refusal is sent in any case: nothing has changed.
    await this.#log.append(projectId, operation!, ending).catch(() => undefined);
  }

  /** The operation of a refusal that is recorded. */
  #refused(failure: Failure): BegunOperation | undefined {
    const as = this.#as ?? otherRequest(this.#request);
    if (isRefusedSignIn(failure) && this.#log.covers("sign-in"))
      return this.#operation({ ...as, kind: "sign-in" });
    const isRecorded = this.#sender !== undefined || as.kind === "sign-in";
    if (!this.#as || !isRecorded || failure.status === 429 || !this.#log.covers(as.kind)) return undefined;
    return this.#operation(as);
  }

  /** The record is on disk before the client can use the session, unless the catalog cannot store it now. */
  async #signedIn(ending: Ending): Promise<void> {
    this.#hasEnded = true;
    if (this.#refusal || !this.#sender || !this.#log.covers("sign-in")) return;
    const projectId = await this.#projectId();
    if (projectId === undefined) return;
    await this.#log.keep(projectId, this.#operation(this.#as!), { ...ending, ids: [] });
  }

  async #end(ending: Ending): Promise<void> {
    if (this.#hasEnded || !this.#begun) return;
    this.#hasEnded = true;
    const { operation, open } = this.#begun;
    if (open) return open.end(ending);
    const projectId = await this.#projectId();
    if (projectId !== undefined) this.#log.collect(projectId, operation, ending);
  }

  #operation({ ids: inPath = [], ...as }: AuditedAs, inBody = namesNothing): BegunOperation {
    const all = [...new Set([...inPath.map(cut), ...inBody.ids])];
    const actor = this.#sender?.actor ?? unknownActor;
    return {
      ...{ ...actor, account: cut(actor.account) },
      ...{ ...as, action: cut(as.action), resource: cut(as.resource) },
      time: this.#beganMs,
      address: cut(this.#address),
      ids: all.slice(0, limits.auditIdsMax),
      idsCount: inPath.length + inBody.count,
      requestId: this.#request.id,
    };
  }

  async #projectId(): Promise<ProjectId | undefined> {
    const known = this.#sender?.projectId;
    if (known !== undefined) return known;
    const { project } = this.#request.params as { readonly project?: string };
    return this.#log.projectOf(project?.normalize("NFC"));
  }
}

/** Writes and reads are recorded in groups, after they have ended. */
const isCollected = (kind: AuditKind): boolean => kind === "write" || kind === "read";

function actorOf({ user, userId, credential }: Pick<Caller, "user" | "userId" | "credential">): AuditActor {
  return {
    account: user,
    ...(userId !== undefined && { accountId: userId }),
    credential: credential?.kind ?? "server",
    ...(credential?.kind === "key" && { keyId: credential.id }),
  };
}

/** Whether a credential was sent and refused. */
function isRefusedSignIn({ failure, details }: Failure): boolean {
  if (failure !== "unauthenticated") return failure === "client-unknown" || failure === "domain-excluded";
  const { reason } = details as { readonly reason: string };
  return reason !== "no-credentials" && reason !== "no-session";
}

const otherRequest = ({ method, routeOptions }: FastifyRequest): AuditedAs => ({
  ...{ kind: "read", resource: "" },
  action: `${method} ${routeOptions.url ?? "/"}`,
});

interface Named {
  /** The first ids and names. */
  readonly ids: readonly string[];
  readonly count: number;
}

const namesNothing: Named = { ids: [], count: 0 };

const hasStream = (result: unknown): boolean =>
  typeof result === "object" && result !== null && "stream" in result;

/** Members that name a record, the first that is present. None of them is a secret. */
const namingMembers = ["id", "externalId", "name", "uniqueName", "key"] as const;

/** Ids and names in `items` of a body, or of `data` of a response. */
function namedIn(content: unknown): Named {
  const body = membersOf(membersOf(content)["body"] ?? content);
  const items = body["items"] ?? membersOf(body["data"])["items"];
  if (!Array.isArray(items)) return namesNothing;
  const ids = items.slice(0, limits.auditIdsMax).flatMap((item) => {
    const name = typeof item === "object" ? namingMembers.map((one) => membersOf(item)[one]) : [item];
    const found = name.find((one) => typeof one === "string" || typeof one === "number");
    return found === undefined ? [] : [cut(String(found))];
  });
  return { ids, count: items.length };
}

const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};

const cut = (name: string): string => name.slice(0, limits.auditIdLengthMax);
