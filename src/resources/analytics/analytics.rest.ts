// Analytics over REST (docs/analytics.md): pattern search and its jobs, which the JavaScript SDK uses, and
// the similarity search of 0.4.
import { Type } from "typebox";
import type { RequestContext } from "../../context.ts";
import { limits } from "../../limits.ts";
import {
  cursorParameter,
  itemsResponse,
  itemsSchema,
  listResponse,
  pageSchema,
} from "../../rest/envelope.ts";
import { json, textField } from "../../rest/fields.ts";
import { id, pageSize } from "../../rest/parameters.ts";
import { type Route, route } from "../../rest/route.ts";
import {
  cancelJob,
  getJob,
  type JobState,
  listJobs,
  type Match,
  matchesOf,
  searchNow,
  startSearch,
} from "./analytics.ts";
import { type DistanceMode, distanceModes } from "./matching/sliding-distance.ts";
import { jobStates } from "./schema.ts";
import { patternSearch, readSearch, refuseOtherSeries, searchRange } from "./specs.rest.ts";

const matchMembers = {
  from: Type.Integer({ description: "The first time of the match" }),
  to: Type.Integer({ description: "Its end, not included" }),
  score: Type.Number({ description: "The distance from the window: 0 is the best" }),
};
const matchIn = ({ fromMs, toMs, score }: Match) => ({ from: fromMs, to: toMs, score });

const jobSchema = Type.Object(
  {
    id: Type.Integer(),
    status: Type.Enum([...jobStates]),
    progress: Type.Number({ description: "From 0 to 1" }),
    errorMsg: Type.Optional(Type.String({ description: "Why it is FAILED" })),
    description: Type.Optional(Type.String()),
    project: Type.String(),
    service: Type.Literal("patternsearch"),
    createdTime: Type.Integer(),
    completedTime: Type.Optional(Type.Integer()),
  },
  { title: "AnalyticsJob" },
);

function jobIn(job: JobState, { caller }: RequestContext) {
  const { id, status, progress, problem, description, createdTime, completedTime } = job;
  return {
    ...{ id, status, progress },
    ...(problem !== undefined && { errorMsg: problem }),
    ...(description !== undefined && { description }),
    ...{ project: caller.projectUrlName, service: "patternsearch", createdTime },
    ...(completedTime !== undefined && { completedTime }),
  };
}

const oneJob = { jobId: id("The job") };
const common = { versions: ["0.5", "0.6"], preview: true } as const;
const execute = { ...common, capability: ["analyticsAcl", "EXECUTE"] } as const;
const read = { ...common, capability: ["analyticsAcl", "READ"] } as const;

const jobRoutes: readonly Route[] = [
  route({
    ...{ ...execute, method: "POST", path: "/analytics/patternsearch/search" },
    summary: "Start a search for the places where series look like a window",
    body: json(patternSearch),
    response: () => ({ schema: Type.Object({ jobId: Type.Integer() }) }),
    handle: async (ctx, { body }) => {
      const search = readSearch(ctx, body);
      await refuseOtherSeries(ctx, body);
      const { id: jobId } = await startSearch(ctx, search, body.description);
      return { jobId };
    },
  }),
  route({
    ...{ ...read, method: "GET", path: "/analytics/patternsearch/{jobId}", parameters: oneJob },
    summary: "Read the matches of a search that is DONE, best first",
    response: () => ({ schema: itemsSchema(Type.Object(matchMembers)) }),
    handle: async (ctx, { path }) => itemsResponse((await matchesOf(ctx, path.jobId)).map(matchIn)),
  }),
  route({
    ...{ ...common, method: "GET", path: "/analytics/jobs", capability: ["analyticsAcl", "LIST"] },
    summary: "List the caller's analytics jobs, the newest first; administrators see all",
    query: {
      cursor: cursorParameter,
      limit: pageSize({ byDefault: limits.assetsListDefault, max: limits.listItemsMax }),
    },
    response: () => ({ schema: pageSchema(jobSchema) }),
    handle: async (ctx, { query }) =>
      listResponse(
        ctx,
        { collection: "analytics jobs", ...query },
        (page) => listJobs(ctx, page),
        (job) => jobIn(job, ctx),
      ),
  }),
  route({
    ...{ ...read, method: "GET", path: "/analytics/jobs/{jobId}", parameters: oneJob },
    summary: "Read the state and progress of an analytics job",
    response: () => ({ schema: jobSchema }),
    handle: async (ctx, { path }) => jobIn(await getJob(ctx, path.jobId), ctx),
  }),
  route({
    ...{ ...execute, method: "POST", path: "/analytics/jobs/{jobId}/cancel", parameters: oneJob },
    summary: "Cancel an analytics job; a job that has ended is not changed",
    response: () => ({ schema: jobSchema }),
    handle: async (ctx, { path }) => jobIn(await cancelJob(ctx, path.jobId), ctx),
  }),
];

const tags = (description: string) =>
  Type.Array(textField("The name of a series", { max: limits.nameLengthMax }), {
    ...{ minItems: 1, maxItems: limits.similarityTagsMax, description },
  });
const moment = Type.Union([Type.Number(), Type.String()]);
const interval = Type.Object({ start: Type.Optional(moment), end: Type.Optional(moment) });

const similarityQuery = Type.Object({
  inputTags: tags("The series whose points in the input interval are looked for, one by one"),
  queryTags: tags("The series that are searched, one by one"),
  inputInterval: interval,
  queryInterval: interval,
  modes: Type.Array(Type.Enum([...distanceModes]), {
    ...{ minItems: 1, maxItems: distanceModes.length },
    description: "`value` compares the points, `pattern` their course whatever its level and scale",
  }),
  limit: Type.Optional(Type.Integer({ minimum: 1, description: "Matches of each mode" })),
});

const similarMatch = Type.Object({
  ...matchMembers,
  tagId: Type.String({ description: "The series that was searched" }),
  inputTagId: Type.String({ description: "The series of the window" }),
  mode: Type.Enum([...distanceModes]),
});

const similaritySearch: Route = route({
  ...{ method: "POST", path: "/similaritysearch", versions: ["0.4"], preview: true },
  capability: ["analyticsAcl", "EXECUTE"],
  summary: "Find where series look like the points of a window, best first by mode",
  body: json(similarityQuery),
  response: () => ({ schema: itemsSchema(similarMatch) }),
  handle: async (ctx, { body }) => {
    const { inputTags, queryTags, inputInterval, queryInterval, limit = limits.searchMatchesDefault } = body;
    const window = searchRange(ctx, inputInterval, "inputInterval.");
    const range = searchRange(ctx, queryInterval, "queryInterval.");
    const found = async (mode: DistanceMode, tagId: string, inputTagId: string) => {
      const matches = await searchNow(ctx, {
        window: { source: { kind: "points", key: inputTagId }, range: window, field: "inputInterval" },
        searched: { source: { kind: "points", key: tagId }, range },
        ...{ mode, count: limit },
      });
      return matches.map((match) => ({ ...matchIn(match), tagId, inputTagId, mode }));
    };
    const items = [];
    for (const mode of new Set(body.modes)) {
      const ofMode = [];
      for (const tagId of new Set(queryTags))
        for (const inputTagId of new Set(inputTags)) ofMode.push(...(await found(mode, tagId, inputTagId)));
      ofMode.sort((a, b) => a.score - b.score);
      items.push(...ofMode.slice(0, Math.min(limit, limits.searchMatchesMax)));
    }
    return itemsResponse(items);
  },
});

export const analyticsRoutes: readonly Route[] = [...jobRoutes, similaritySearch];
