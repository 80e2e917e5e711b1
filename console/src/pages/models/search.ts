// The search parameters of the page of models.

export type ModelsTab = "models" | "schedules" | "packages";

export interface ModelsSearch {
  /** Absent for the models. */
  readonly tab?: ModelsTab;
  /** The model whose details are open. */
  readonly model?: number;
  /** The version of this model whose log and artifacts are open. */
  readonly modelVersion?: number;
  /** The schedule whose runs are open. */
  readonly schedule?: number;
}

const id = (value: unknown): number | undefined => {
  const number = Number(value);
  return value !== undefined && Number.isSafeInteger(number) && number > 0 ? number : undefined;
};

export function modelsSearch(raw: Record<string, unknown>): ModelsSearch {
  const tab = raw["tab"] === "schedules" || raw["tab"] === "packages" ? raw["tab"] : undefined;
  const ids = {
    model: id(raw["model"]),
    modelVersion: id(raw["modelVersion"]),
    schedule: id(raw["schedule"]),
  };
  return Object.fromEntries(Object.entries({ tab, ...ids }).filter(([, value]) => value !== undefined));
}
