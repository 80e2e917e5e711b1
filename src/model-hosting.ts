// Model hosting on this server: whether and how code is run, jobs of ended servers, and schedules on time.
import { createHash } from "node:crypto";
import type { Logger } from "pino";
import type { KeyProject } from "./access/api-keys.ts";
import type { Settings } from "./config.ts";
import type { Services } from "./context.ts";
import { KeyedTaskRunner } from "./lib/keyed-task-runner.ts";
import { removeLeftFolders } from "./lib/left-folders.ts";
import { limits } from "./limits.ts";
import type { ModelHosting, ModelRunner } from "./model-runner/model-runner.ts";
import { pythonRunner } from "./model-runner/python-runner.ts";
import { findSandbox, type Sandbox, type SandboxRefusal } from "./model-runner/sandbox.ts";
import type { Filter } from "./query/filter.ts";
import { failAbandonedRuns, runDueSchedules } from "./resources/models/schedules/scheduler.ts";
import { takeOverJobs } from "./resources/models/versions/jobs.ts";
import { allProjects } from "./resources/projects/projects.ts";

interface Opened {
  readonly models: ModelHosting;
  hosted(services: Services): HostedModels;
}

export interface HostedModels {
  /** Code of models can run from now on; the server listens at this address. */
  listenAt(address: string): void;
  /** Fails the runs, and continues or fails the jobs, of servers that have ended. */
  takeOver(project: KeyProject, abandoned: Filter): Promise<void>;
  /** Starts schedules. */
  start(): void;
  stop(): Promise<void>;
}

export async function openModelHosting(
  { hostsModels: isOn = false, data }: Pick<Settings, "hostsModels" | "data">,
  log: Logger,
): Promise<Opened> {
  const found: Sandbox | SandboxRefusal = isOn ? await findSandbox(data) : { refusal: "off" };
  if (isOn) report(found, log);
  let listeningAt: URL | undefined;
  const ownName = createHash("sha256").update(data).digest("hex").slice(0, 12);
  const folderPrefix = `millrace-model-${ownName}-`;
  const host = "refusal" in found ? undefined : { sandbox: found, platform: () => listeningAt, folderPrefix };
  if (host) await removeLeftFolders(host.folderPrefix);
  const models: ModelHosting = {
    ...("refusal" in found && { refusal: found.refusal }),
    runner: host ? pythonRunner(host) : noRunner,
    jobs: new KeyedTaskRunner(),
    liveLogs: new Map(),
    report: (problem) => log.error({ err: problem }, "A fault ended a job or a schedule of a model"),
  };
  return {
    models,
    hosted: (services) => ({
      listenAt: (address) => {
        listeningAt = new URL(address);
      },
      ...(models.refusal ? noneHosted : hostedBy(services)),
    }),
  };
}

/** Not called: routes refuse first. */
const noRunner: ModelRunner = { run: () => Promise.reject(new Error("this server runs no models")) };

function report(found: Sandbox | SandboxRefusal, log: Logger): void {
  const { flaw } = found;
  if ("refusal" in found && found.refusal === "root-without-sandbox")
    log.error(
      { flaw },
      "Model hosting is refused: as root, code of models would own this machine. Install bubblewrap, " +
        "or allow it user namespaces, or run the server as another user (docs/models.md)",
    );
  else if ("refusal" in found)
    log.warn("Model hosting is on, but there is no python3; its operations are refused");
  else if (found.isIsolated) log.info("Model hosting is on; bubblewrap isolates the code of models");
  else
    log.warn(
      { flaw },
      "Model hosting is on without isolation: code of models can read and write what this server can. " +
        "Install bubblewrap, or allow it user namespaces (docs/models.md)",
    );
}

type HostedWork = Omit<HostedModels, "listenAt">;

const noneHosted: HostedWork = { takeOver: async () => {}, start: () => {}, stop: async () => {} };

function hostedBy(services: Services): HostedWork {
  const { models } = services;
  let timer: NodeJS.Timeout | undefined;
  return {
    takeOver: async (project, abandoned) => {
      await failAbandonedRuns(services, project, abandoned);
      await takeOverJobs(services, project, abandoned);
    },
    start: () => {
      timer = setInterval(() => runDue(services).catch(models.report), limits.modelTickMs);
    },
    stop: () => {
      clearInterval(timer);
      return models.jobs.cancelAll();
    },
  };
}

async function runDue(services: Services): Promise<void> {
  const projects = await services.catalog.read("system", allProjects);
  await Promise.all(projects.map((project) => runDueSchedules(services, project)));
}
