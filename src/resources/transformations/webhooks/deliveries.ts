// Sends the messages that are due, each by one of the servers: an attempt is claimed in the transaction that
// sets the time of the next one, so that a message is sent again if a server ends meanwhile.
import type { KeyProject } from "../../../access/api-keys.ts";
import type { Services } from "../../../context.ts";
import { Unreachable } from "../../../lib/outbound-fetch.ts";
import { startTicks } from "../../../lib/ticks.ts";
import { limits } from "../../../limits.ts";
import { between } from "../../../query/filter.ts";
import { byId } from "../../../query/page.ts";
import { allProjects } from "../../projects/projects.ts";
import {
  type Transformation,
  type TransformationRun,
  transformationRunTable,
  transformationTable,
} from "../schema.ts";
import { withAttempt, withOutcome, withoutAttempts } from "./delivery.ts";
import { headersOf, messageOf } from "./message.ts";
import { signingKey } from "./webhook.ts";

/** Looks for messages at intervals; returns the function that stops it, with the requests in progress. */
export function startDeliveries(services: Services): () => Promise<void> {
  const ended = new AbortController();
  const { jobs } = services.transformations;
  const ticking = {
    everyMs: limits.transformationTickMs,
    report: (problem: unknown) => jobs.report(problem),
  };
  const stop = startTicks(ticking, () => deliverDue(services, ended.signal));
  return () => {
    ended.abort();
    return stop();
  };
}

async function deliverDue(services: Services, signal: AbortSignal): Promise<void> {
  for (const project of await services.catalog.read("system", allProjects)) {
    const filter = between("deliveryTime", { to: { value: services.system.nowMs(), inclusive: true } });
    const page = { limit: limits.webhooksAtOnce };
    const due = await services.catalog.read(project.id, (tx) =>
      tx.find(transformationRunTable, { filter, order: byId, page, fields: ["id"] }),
    );
    await Promise.all(due.map(({ id }) => deliver(services, { project, id, signal })));
    if (signal.aborted) return;
  }
}

interface Due {
  readonly project: KeyProject;
  readonly id: number;
  readonly signal: AbortSignal;
}

interface Claimed {
  readonly run: TransformationRun;
  readonly transformation: Transformation;
}

async function deliver(services: Services, due: Due): Promise<void> {
  const { project, id } = due;
  const claimed = await claim(services, due);
  if (!claimed) return;
  const problem = await problemOfSending(services, due, claimed);
  // The next start sends it again.
  if (due.signal.aborted) return;
  await services.catalog.write(project.id, async (tx) => {
    const [now] = await tx.get(transformationRunTable, [id]);
    if (now?.delivery?.attempts !== claimed.run.delivery!.attempts) return;
    await tx.replace(transformationRunTable, [withOutcome(now, problem)]);
  });
}

/** Undefined if another server has claimed it, or if the transformation has no webhook any more. */
const claim = (services: Services, { project, id }: Due): Promise<Claimed | undefined> =>
  services.catalog.write(project.id, async (tx) => {
    const nowMs = services.system.nowMs();
    const [run] = await tx.get(transformationRunTable, [id]);
    if (run?.deliveryTime === undefined || run.deliveryTime > nowMs) return undefined;
    const [transformation] = await tx.get(transformationTable, [run.transformationId]);
    const giveUp = (problem: string) => tx.replace(transformationRunTable, [withoutAttempts(run, problem)]);
    if (!transformation?.webhook) return void (await giveUp("The transformation has no webhook any more"));
    if (run.delivery!.attempts >= limits.webhookAttempts)
      return void (await giveUp("The server stopped in the last attempt"));
    const attempted = withAttempt(run, nowMs);
    await tx.replace(transformationRunTable, [attempted]);
    return { run: attempted, transformation };
  });

/** Sends a message; undefined if it was received. */
async function problemOfSending(
  services: Services,
  { project, signal }: Due,
  { run, transformation }: Claimed,
): Promise<string | undefined> {
  const webhook = transformation.webhook!;
  const key = signingKey(services, webhook, transformation.id);
  if (!key) return "The secret cannot be read; set it again";
  const body = messageOf({ project: project.urlName, transformation, run });
  const headers = headersOf(body, { key, runId: run.id, nowMs: services.system.nowMs() });
  try {
    const { send } = services.transformations.webhooks;
    const { status } = await send(webhook.url, { method: "POST", headers, body, signal });
    return status < 300 ? undefined : `The receiver responded with ${status}`;
  } catch (problem) {
    const { message } = problem as Error;
    return problem instanceof Unreachable ? `${message} within ${limits.webhookMsMax / 1000} s` : message;
  }
}
