// Refusals of the hosting of models. Part of the catalogue of `src/errors.ts`.
import { entry } from "./entry.ts";

const unavailable = {
  off: "Model hosting is off, because it runs code of users on the server; MILLRACE_MODELS=on enables it",
  "python-missing":
    "Model hosting needs python3, which the server does not have; install it and restart the server",
  "root-without-sandbox":
    "Model hosting needs bubblewrap on a server that runs as root; the server's start log has the reason",
} as const;

export const modelFailures = {
  "models-unavailable": entry<{ why: "off" | "python-missing" | "root-without-sandbox" }>({
    status: 400,
    when: "A request needs model hosting, which is off, lacks Python, or is unsafe as root.",
    message: ({ why }) => unavailable[why],
  }),
  "model-without-version": entry<{ name: string }>({
    status: 400,
    when: "A prediction is requested of a model without an active version.",
    message: ({ name }) => `The model ${name} has no active version; set its activeVersionId`,
  }),
  "model-account-needed": entry<Record<string, never>>({
    status: 400,
    when: "A caller without a service account creates a schedule; its runs need the rights of an account.",
    message: () => "A schedule acts for a service account; create it with an API key",
  }),
  "model-account-gone": entry<Record<string, never>>({
    status: 400,
    when: "The service account of a job or a schedule was deleted; the job's version has this reason.",
    message: () => "The service account of this request was deleted",
  }),
  "model-author-refused": entry<Record<string, never>>({
    status: 400,
    when: "The author of a model's code may not use the data of a schedule; its list of runs says so.",
    message: () => "An author of the active version may not use the series and files of this schedule",
  }),
  "model-failed": entry<{ problem: string }>({
    status: 400,
    when: "The code of a model failed in a run of a schedule; the list of runs has this reason.",
    message: ({ problem }) => problem,
  }),
  "version-state": entry<{ name: string; state: string; needed: readonly string[] }>({
    status: 409,
    when: "An operation is not possible in the current state of a model's version.",
    message: ({ name, state, needed }) => `The version ${name} is ${state}, not ${needed.join(" or ")}`,
  }),
  "source-code-deleted": entry<{ name: string }>({
    status: 400,
    when: "The code of a source package is requested after it was deleted.",
    // Published clients read the word `deleted` (docs/reference/common.md#error-messages-that-clients-read).
    message: ({ name }) => `The code of the source package ${name} has been deleted`,
  }),
  "source-without-operation": entry<{ name: string; operation: string }>({
    status: 400,
    when: "A source package does not offer the requested operation.",
    message: ({ name, operation }) => `The source package ${name} has no ${operation} in availableOperations`,
  }),
  "artifact-unknown": entry<{ name: string; version: string }>({
    status: 404,
    when: "A version of a model has no artifact of this name.",
    message: ({ name, version }) => `The version ${version} has no artifact ${name}`,
  }),
} as const;
