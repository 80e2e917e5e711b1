// `millrace serve --demo`: loads the demo plant into a data folder of its own, and shows the progress.
import { setTimeout as pause } from "node:timers/promises";
import { liveIn } from "../access/rights.ts";
import { accountTable } from "../access/schema.ts";
import { Connection, ServerProblem } from "../client/connection.ts";
import { duration, type Output, StatusLine } from "../client/progress.ts";
import type { Settings } from "../config.ts";
import type { Services } from "../context.ts";
import { operatorName } from "../demo/records.ts";
import { and, equals } from "../query/filter.ts";
import { byId } from "../query/page.ts";
import { administratorKey } from "../resources/demo/demo.ts";
import { byUrlName, type Project } from "../resources/projects/projects.ts";

/** The demo never touches the data of the plant itself. */
export const demoSettings = ({ backups: _, ...settings }: Settings): Settings => ({
  ...settings,
  data: `${settings.data}-demo`,
});

interface Target {
  readonly address: string;
  readonly settings: Settings;
}

interface State {
  readonly status: "NONE" | "RUNNING" | "DONE" | "FAILED";
  readonly percent: number;
  readonly step?: string;
  readonly error?: string;
}

const pollMs = 100;

/**
 * Loads the plant where it is missing, and turns live values on. Returns the token of a sign-in link. The
 * server continues also if the load fails.
 */
export async function loadDemoPlant(
  services: Services,
  target: Target,
): Promise<{ readonly linkToken: string }> {
  const project = (await services.catalog.read("system", (tx) => byUrlName(tx, target.settings.project)))!;
  try {
    await load(services, project, target);
  } catch (problem) {
    if (!(problem instanceof ServerProblem)) throw problem;
    console.log(problem.message);
  }
  return { linkToken: await services.sessions.createLink(project) };
}

async function load(services: Services, project: Project, { address, settings }: Target): Promise<void> {
  using adminKey = await administratorKey(services, project);
  const connection = new Connection({ server: address, key: adminKey.key }, new AbortController().signal);
  await connection.login();
  const path = connection.pathOf("demo", "0.6");
  const state = async (method: string) =>
    ((await connection.json(method, path)) as { data: { items: [State] } }).data.items[0];
  const isFirst = (await state("GET")).status !== "DONE";
  if (isFirst) console.log(`Loading the demo plant into ${settings.data}`);
  const startedMs = performance.now();
  const { status, error } = await shown(await state("POST"), () => state("GET"), process.stdout);
  const seconds = (performance.now() - startedMs) / 1000;
  if (status !== "DONE") console.log(`The load failed: ${error}\nTo continue it, start again with --demo.`);
  else if (isFirst) console.log(await summary(services, project, seconds));
}

async function shown(first: State, read: () => Promise<State>, output: Output): Promise<State> {
  const line = new StatusLine(output);
  let state = first;
  while (state.status === "RUNNING") {
    const { percent, step = "" } = state;
    line.show(() => ({ share: percent / 100, text: `  demo plant: ${step}` }));
    await pause(pollMs);
    state = await read();
  }
  line.end();
  return state;
}

async function summary({ catalog, keys }: Services, project: Project, seconds: number): Promise<string> {
  const filter = and(liveIn(project.id), equals("uniqueName", operatorName));
  const [operator] = await catalog.read("system", (tx) =>
    tx.find(accountTable, { filter, order: byId, page: { limit: 1 } }),
  );
  const { key } = await keys.create(project, "operator of the demo plant", { accountId: operator!.id });
  return `The demo plant is loaded (${duration(seconds)}) and live; docs/demo.md describes it.

  operator  ${operatorName}, who sees unit 24 only
  API key   ${key} (shown once)
`;
}
