// Refusals of the hosting of models. Part of the catalogue of `src/errors.ts`.
import { entry } from "./entry.ts";

const unavailable = {
  off: "Model hosting is off, as it runs code of users on the server; MILLRACE_MODELS=on turns it on",
  "python-missing":
    "Model hosting needs python3 on the server, which has none; install it and start the server again",
  "root-without-sandbox":
    "Model hosting needs bubblewrap on a server that runs as root; the log of its start says what is missing",
} as const;

export const modelFailures = {
  "models-unavailable": entry<{ why: "off" | "python-missing" | "root-without-sandbox" }>({
    status: 400,
    when: "Model hosting is asked for; it is off, lacks Python, or is unsafe as root.",
    message: ({ why }) => unavailable[why],
  }),
  "model-without-version": entry<{ name: string }>({
    status: 400,
    when: "A prediction is asked of a model that has no active version.",
    message: ({ name }) => `The model ${name} has no active version; set its activeVersionId`,
  }),
  "model-account-needed": entry<Record<string, never>>({
    status: 400,
    when: "A schedule is made by somebody without a service account, so that nobody's rights could be used.",
    message: () => "A schedule acts for a service account; make it with an API key",
  }),
  "model-account-gone": entry<Record<string, never>>({
    status: 400,
    when: "The service account that a job or a schedule acts for was deleted; the job's version says so.",
    message: () => "The service account that asked for this was deleted",
  }),
  "model-author-refused": entry<Record<string, never>>({
    status: 400,
    when: "A schedule's model has code of somebody who may not use its data; its list of runs says so.",
    message: () => "An author of the active version may not use the series and files of this schedule",
  }),
  "model-failed": entry<{ problem: string }>({
    status: 400,
    when: "The code of a model failed in a run of a schedule, whose list of runs says so.",
    message: ({ problem }) => problem,
  }),
  "version-state": entry<{ name: string; state: string; needed: readonly string[] }>({
    status: 409,
    when: "A version of a model is asked for what it cannot do in its state.",
    message: ({ name, state, needed }) => `The version ${name} is ${state}, not ${needed.join(" or ")}`,
  }),
  "source-code-deleted": entry<{ name: string }>({
    status: 400,
    when: "The code of a source package is asked for after it was deleted.",
    // Published clients read the word `deleted` (docs/reference/common.md#error-texts-that-clients-read).
    message: ({ name }) => `The code of the source package ${name} has been deleted`,
  }),
  "source-without-operation": entry<{ name: string; operation: string }>({
    status: 400,
    when: "A source package is to be trained that does not offer it.",
    message: ({ name, operation }) => `The source package ${name} has no ${operation} in availableOperations`,
  }),
  "artifact-unknown": entry<{ name: string; version: string }>({
    status: 404,
    when: "A version of a model has no artifact of this name.",
    message: ({ name, version }) => `The version ${version} has no artifact ${name}`,
  }),
} as const;
