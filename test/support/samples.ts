// The registry of sample records: those of every resource, in the order in which they can refer to each
// other.
import { type NotCovered, none } from "../../src/lib/not-covered.ts";
import { assetSamples } from "../../src/resources/assets/assets.samples.ts";
import { eventSamples } from "../../src/resources/events/events.samples.ts";
import { fileSamples } from "../../src/resources/files/files.samples.ts";
import { groupSamples } from "../../src/resources/groups/groups.samples.ts";
import { identitySamples } from "../../src/resources/identities/identities.samples.ts";
import { rawSamples } from "../../src/resources/raw/raw.samples.ts";
import { relationshipSamples } from "../../src/resources/relationships/relationships.samples.ts";
import { retentionSamples } from "../../src/resources/retention/retention.samples.ts";
import { sequenceSamples } from "../../src/resources/sequences/sequences.samples.ts";
import { suggestionSamples } from "../../src/resources/suggestions/suggestions.samples.ts";
import { timeSeriesSamples } from "../../src/resources/timeseries/timeseries.samples.ts";
import { transformationSamples } from "../../src/resources/transformations/transformations.samples.ts";
import { trendSamples } from "../../src/resources/trends/trends.samples.ts";
import { type ResourceName, resourceNames } from "../../src/transfers.ts";
import { type AskProject, Draws, Filling, type Item, Reading, type SamplePart } from "./sample-part.ts";

const noRecords = none("it stores no records");

export const samples: Readonly<Record<ResourceName, SamplePart | Pick<SamplePart, "single"> | NotCovered>> = {
  projects: none("a test has a project from its start"),
  identities: identitySamples,
  groups: groupSamples,
  assets: assetSamples,
  "tag-matching": noRecords,
  timeseries: timeSeriesSamples,
  datapoints: none("the samples of time series have datapoints"),
  calculated: noRecords,
  analytics: none("jobs are run, not stored: see analytics.api.test.ts"),
  events: eventSamples,
  files: fileSamples,
  raw: rawSamples,
  sequences: sequenceSamples,
  relationships: relationshipSamples,
  suggestions: suggestionSamples,
  retention: retentionSamples,
  contents: noRecords,
  trends: trendSamples,
  connectors: none("connectors report themselves: see connectors.api.test.ts"),
  transformations: transformationSamples,
  demo: none("a test of its own loads the demo plant: see demo.api.test.ts"),
  models: none("models need Python: see models.api.test.ts"),
  audit: none("the server writes them: see audit.api.test.ts"),
  configuration: none("it has the records of other resources"),
  archives: noRecords,
  explanations: noRecords,
};

const parts: readonly SamplePart[] = resourceNames.flatMap((name) => {
  const part = samples[name];
  return "fill" in part ? [part] : [];
});

/** Fills a project with random records of every resource, full of strings and numbers that break easily. */
export async function fillProject(ask: AskProject, seed: number): Promise<void> {
  const filling = new Filling(ask, new Draws(seed));
  for (const part of parts) await part.fill(filling);
}

/** Fills a project with a record or two of every resource, with every reference and every number. */
export async function fillSmallProject(ask: AskProject): Promise<void> {
  const filling = new Filling(ask, new Draws(0));
  for (const part of parts) await part.fillSmall(filling);
}

/** Everything in the project, with names instead of ids. */
export async function readProject(ask: AskProject): Promise<Readonly<Record<string, unknown>>> {
  const reading = new Reading(ask);
  const found: Record<string, unknown> = {};
  for (const part of parts) Object.assign(found, await part.read(reading));
  return found;
}

/** By list two items for records that are read and deleted by id. */
export const singles: readonly (readonly [list: string, items: readonly Item[]])[] = resourceNames.flatMap(
  (name) => {
    const part = samples[name];
    return Object.entries(("single" in part && part.single) || {});
  },
);
