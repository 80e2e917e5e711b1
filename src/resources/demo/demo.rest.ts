// The demo plant over REST 0.6 (docs/reference/demo.md).
import { Type } from "typebox";
import { limits } from "../../limits.ts";
import { emptyResponse, emptySchema, itemsResponse, itemsSchema } from "../../rest/envelope.ts";
import { json } from "../../rest/fields.ts";
import { type Route, route } from "../../rest/route.ts";
import { type DemoState, endDemo, readDemo, startDemo } from "./demo.ts";
import { demoStates } from "./schema.ts";

const demoSchema = Type.Object(
  {
    status: Type.Enum(["NONE", ...demoStates], {
      description: "Of the load; NONE if there is no demo plant",
    }),
    percent: Type.Number({ description: "How much of the load is complete, from 0 to 100" }),
    step: Type.Optional(Type.String({ description: "What is being loaded, while the load is RUNNING" })),
    isLive: Type.Boolean({ description: "Whether live values are written" }),
    error: Type.Optional(Type.String({ description: "Why the load FAILED, or the live values ended" })),
    days: Type.Optional(Type.Integer({ description: "Days of history" })),
    endTime: Type.Optional(Type.Integer({ description: "The end of the history, in ms since 1970" })),
    createdTime: Type.Optional(Type.Integer()),
    completedTime: Type.Optional(Type.Integer({ description: "When the load was complete" })),
  },
  { title: "DemoPlant" },
);

const startBody = Type.Object({
  days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: limits.demoDaysMax,
      description: `Days of history; ${limits.demoDaysMax} when absent`,
    }),
  ),
});

function demoIn(demo: DemoState | undefined) {
  if (!demo) return { status: "NONE", percent: 0, isLive: false };
  const { status, percent = 0, step, isLive, problem, days, endTime, createdTime, completedTime } = demo;
  return {
    ...{ status, percent: status === "DONE" ? 100 : Math.floor(percent) },
    ...(status === "RUNNING" && step !== undefined && { step }),
    ...{ isLive: isLive && status === "DONE", days, endTime, createdTime },
    ...(problem !== undefined && { error: problem }),
    ...(completedTime !== undefined && { completedTime }),
  };
}

const common = { path: "/demo", versions: ["0.6"] } as const;
const change = { ...common, capability: ["projectsAcl", "UPDATE"] } as const;
const one = () => ({ schema: itemsSchema(demoSchema) });

export const demoRoutes: readonly Route[] = [
  route({
    ...{ ...common, method: "GET", capability: ["projectsAcl", "READ"] },
    summary: "Read the state of the demo plant and the progress of its load",
    response: one,
    handle: async (ctx) => itemsResponse([demoIn(await readDemo(ctx))]),
  }),
  route({
    ...{ ...change, method: "POST" },
    summary: "Load the demo plant into a project without assets; also requires the administration of groups",
    body: json(startBody),
    response: one,
    handle: async (ctx, { body }) =>
      itemsResponse([demoIn(await startDemo(ctx, body.days ?? limits.demoDaysMax))]),
  }),
  route({
    ...{ ...change, method: "DELETE" },
    summary: "End the live values of the demo plant, or its load; also requires the administration of groups",
    response: () => ({ schema: emptySchema }),
    handle: async (ctx) => {
      await endDemo(ctx);
      return emptyResponse;
    },
  }),
];
