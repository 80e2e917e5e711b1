// Limits of long computations: tag matching, similarity search, analytics jobs.
import { limit } from "./limit.ts";

export const computationsLimits = {
  tagsPerMatchMax: limit(1_000, "tags", "Tags of one tag matching. More are refused."),
  tagMatchesMax: limit(100, "matches", "Matches returned for one tag, the best ones."),
  tagEditsMax: limit(10, "edits", "`fuzzyThreshold` of a tag matching. A larger one is lowered to this."),
  tagNamesPerBatch: limit(
    100_000,
    "names",
    "Asset names that a tag matching indexes together (about 30 MB). More are indexed in further batches.",
  ),
  tagBatchCharacters: limit(
    2 * 2 ** 20,
    "characters",
    "Characters of the names of one batch. A batch of longer names has fewer names.",
  ),
  assetNamesAtOnce: limit(
    5_000,
    "names",
    "Asset names that a tag matching reads between two pauses for other requests (some milliseconds).",
  ),
  computationsLargeAtOnce: limit(
    6,
    "computations",
    "Tag matchings at the same time, because each needs up to 100 MB. Others wait.",
  ),
  computationsLargePerCaller: limit(2, "computations", "Of these, those of one caller. Further ones wait."),
  computationsAtOnce: limit(
    32,
    "computations",
    "Other long computations (filters over data) at the same time. Others wait.",
  ),
  computationsPerCaller: limit(8, "computations", "Of these, those of one caller. Further ones wait."),
  computationsBackgroundAtOnce: limit(4, "computations", "Pattern searches at the same time. Others wait."),
  computationsBackgroundPerCaller: limit(2, "computations", "Of these, those of one caller."),
  computationCharactersMax: limit(
    1_000_000_000,
    "characters",
    "Characters that one tag matching compares (about 10 s). One that needs more is refused.",
  ),
  searchWindowMax: limit(5_000, "samples", "The window of a pattern search. A longer one is refused."),
  searchColumnsMax: limit(10, "columns", "Aggregates of series that a pattern search compares together."),
  searchMatchesMax: limit(100, "matches", "Matches of a pattern search. A larger `limit` is lowered."),
  searchMatchesDefault: limit(10, "matches", "Matches of a pattern search when `limit` is absent."),
  searchSamplesMax: limit(100_000_000, "samples", "Samples of all columns that a pattern search compares."),
  similarityTagsMax: limit(10, "tags", "Input tags and query tags of a similarity search, each."),
  jobsRunningMax: limit(20, "jobs", "Unfinished analytics jobs of one caller. Further ones get 429."),
  jobsKeptMax: limit(100, "jobs", "Ended analytics jobs of one caller. The oldest is deleted first."),
  jobKeptMs: limit(7 * 24 * 3_600_000, "ms", "How long an analytics job and its result can be read."),
  jobMsMax: limit(3_600_000, "ms", "The time that an analytics job may take, including its wait."),
} as const;
