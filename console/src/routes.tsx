// The pages and their addresses. The search parameters of an address are the whole state of its page.
import type { QueryClient } from "@tanstack/react-query";
import {
  type AnyRoute,
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  notFound,
  redirect,
} from "@tanstack/react-router";
import { basePath } from "./api/base.ts";
import { partOf } from "./api/load-part.ts";
import { addressOf, parseAddress } from "./lib/address.ts";
import { accessSearch } from "./pages/access/search.ts";
import { assetsSearch } from "./pages/assets/search.ts";
import { auditSearch } from "./pages/audit/search.ts";
import { calculatedSearch } from "./pages/calculated/search.ts";
import { apiSearch } from "./pages/connect/api/search.ts";
import { connectSearch } from "./pages/connect/search.ts";
import { eventsSearch } from "./pages/events/search.ts";
import { filesSearch } from "./pages/files/search.ts";
import { modelsSearch } from "./pages/models/search.ts";
import { operationsSearch } from "./pages/operations/search.ts";
import { rawSearch, tableSearch } from "./pages/raw/search.ts";
import { sequenceSearch } from "./pages/sequences/search.ts";
import { seriesRecordSearch, seriesSearch } from "./pages/series/search.ts";
import { suggestionsSearch } from "./pages/suggestions/search.ts";
import { transformationSearch, transformationsSearch } from "./pages/transformations/search.ts";
import { savedTrend } from "./pages/trend/saved-trend.ts";
import { trendSearch } from "./pages/trend/search.ts";
import { sessionQuery } from "./session/session.ts";
import { signInSearch } from "./session/sign-in-search.ts";
import { AppFrame } from "./ui/app-frame.tsx";
import { NotFound, PageError, PagePending } from "./ui/page-states.tsx";

interface RouterContext {
  readonly queryClient: QueryClient;
}

const rootRoute = createRootRouteWithContext<RouterContext>()({ notFoundComponent: NotFound });

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/sign-in",
  validateSearch: signInSearch,
  component: lazyRouteComponent(
    partOf(() => import("./session/sign-in-page.tsx")),
    "SignInPage",
  ),
});

/** The pages for people who are signed in, inside of the frame with the navigation. */
const frameRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: "frame",
  beforeLoad: async ({ context, location }) => {
    const session = await context.queryClient.ensureQueryData(sessionQuery);
    if (session === null) throw redirect({ to: "/sign-in", search: { returnTo: location.href } });
  },
  component: AppFrame,
});

/** The id of a record in an address; another text is no page. */
const idParams = {
  parse: ({ id }: { id: string }) => {
    if (!/^[1-9]\d{0,15}$/.test(id)) throw notFound();
    return { id: Number(id) };
  },
  stringify: ({ id }: { id: number }) => ({ id: String(id) }),
};

const startRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/",
  component: lazyRouteComponent(
    partOf(() => import("./pages/start/start-page.tsx")),
    "StartPage",
  ),
});

const seriesRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/series",
  validateSearch: seriesSearch,
  component: lazyRouteComponent(
    partOf(() => import("./pages/series/series-page.tsx")),
    "SeriesPage",
  ),
});

const trendRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/trend",
  validateSearch: trendSearch,
  /** The id alone is a link to a saved trend: it opens with all of its state. */
  beforeLoad: async ({ context: { queryClient }, search }) => {
    const { trend, ...state } = search;
    if (trend === undefined || Object.keys(state).length > 0) return;
    const saved = await savedTrend(queryClient, trend);
    if (Object.keys(saved).length > 0) throw redirect({ to: "/trend", search: { ...saved, trend } });
  },
  component: lazyRouteComponent(
    partOf(() => import("./pages/trend/trend-page.tsx")),
    "TrendPage",
  ),
});

const accessRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/access",
  validateSearch: accessSearch,
  component: lazyRouteComponent(
    partOf(() => import("./pages/access/access-page.tsx")),
    "AccessPage",
  ),
});

const rawRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/raw",
  validateSearch: rawSearch,
  component: lazyRouteComponent(
    partOf(() => import("./pages/raw/raw-page.tsx")),
    "RawPage",
  ),
});

const rawTableRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/raw/$database/$table",
  validateSearch: tableSearch,
  component: lazyRouteComponent(
    partOf(() => import("./pages/raw/table-page.tsx")),
    "TablePage",
  ),
});

const operationsRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/operations",
  validateSearch: operationsSearch,
  component: lazyRouteComponent(
    partOf(() => import("./pages/operations/operations-page.tsx")),
    "OperationsPage",
  ),
});

const seriesRecordRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/series/$id",
  params: idParams,
  validateSearch: seriesRecordSearch,
  component: lazyRouteComponent(
    partOf(() => import("./pages/series/series-record-page.tsx")),
    "SeriesRecordPage",
  ),
});

const connectRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/connect",
  validateSearch: connectSearch,
  component: lazyRouteComponent(
    partOf(() => import("./pages/connect/connect-page.tsx")),
    "ConnectPage",
  ),
});

const apiRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/connect/api",
  validateSearch: apiSearch,
  component: lazyRouteComponent(
    partOf(() => import("./pages/connect/api/api-page.tsx")),
    "ApiPage",
  ),
});

/** The tree stays while one goes from asset to asset: the pages of assets are inside of its route. */
const assetsRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/assets",
  validateSearch: assetsSearch,
  component: lazyRouteComponent(
    partOf(() => import("./pages/assets/assets-page.tsx")),
    "AssetsPage",
  ),
});

const noAssetRoute = createRoute({
  getParentRoute: () => assetsRoute,
  path: "/",
  component: lazyRouteComponent(
    partOf(() => import("./pages/assets/asset-page.tsx")),
    "NoAssetChosen",
  ),
});

const assetRoute = createRoute({
  getParentRoute: () => assetsRoute,
  path: "/$id",
  params: idParams,
  component: lazyRouteComponent(
    partOf(() => import("./pages/assets/asset-page.tsx")),
    "AssetPage",
  ),
});

const eventsRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/events",
  validateSearch: eventsSearch,
  component: lazyRouteComponent(
    partOf(() => import("./pages/events/events-page.tsx")),
    "EventsPage",
  ),
});

const importEvents = partOf(() => import("./pages/events/import-page.tsx"));
const eventsImportRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/events/import",
  component: lazyRouteComponent(importEvents, "ImportPage"),
});

const importPoints = partOf(() => import("./pages/points-import/import-points-page.tsx"));
const pointsImportRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/series/import",
  component: lazyRouteComponent(importPoints, "ImportPointsPage"),
});

const eventRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/events/$id",
  params: idParams,
  component: lazyRouteComponent(
    partOf(() => import("./pages/events/event-page.tsx")),
    "EventPage",
  ),
});

const filesRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/files",
  validateSearch: filesSearch,
  component: lazyRouteComponent(
    partOf(() => import("./pages/files/files-page.tsx")),
    "FilesPage",
  ),
});

const fileRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/files/$id",
  params: idParams,
  component: lazyRouteComponent(
    partOf(() => import("./pages/files/file-page.tsx")),
    "FilePage",
  ),
});

const sequenceRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/sequences/$id",
  params: idParams,
  validateSearch: sequenceSearch,
  component: lazyRouteComponent(
    partOf(() => import("./pages/sequences/sequence-page.tsx")),
    "SequencePage",
  ),
});

const calculatedRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/calculated",
  validateSearch: calculatedSearch,
  component: lazyRouteComponent(
    partOf(() => import("./pages/calculated/calculated-page.tsx")),
    "CalculatedPage",
  ),
});

const modelsRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/models",
  validateSearch: modelsSearch,
  component: lazyRouteComponent(
    partOf(() => import("./pages/models/models-page.tsx")),
    "ModelsPage",
  ),
});

const auditRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/audit",
  validateSearch: auditSearch,
  component: lazyRouteComponent(() => import("./pages/audit/audit-page.tsx"), "AuditPage"),
});

const suggestionsRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/suggestions",
  validateSearch: suggestionsSearch,
  component: lazyRouteComponent(
    partOf(() => import("./pages/suggestions/suggestions-page.tsx")),
    "SuggestionsPage",
  ),
});

const transformationsRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/transformations",
  validateSearch: transformationsSearch,
  component: lazyRouteComponent(
    partOf(() => import("./pages/transformations/transformations-page.tsx")),
    "TransformationsPage",
  ),
});

const transformationRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/transformations/$id",
  params: idParams,
  validateSearch: transformationSearch,
  component: lazyRouteComponent(
    partOf(() => import("./pages/transformations/transformation-page.tsx")),
    "TransformationPage",
  ),
});

/** Another address: the navigation leads on from there. */
const otherRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "$",
  component: NotFound,
});

const routeTree = rootRoute.addChildren([
  signInRoute,
  frameRoute.addChildren([
    startRoute,
    assetsRoute.addChildren([noAssetRoute, assetRoute]),
    trendRoute,
    seriesRoute,
    seriesRecordRoute,
    eventsRoute,
    eventsImportRoute,
    pointsImportRoute,
    eventRoute,
    filesRoute,
    fileRoute,
    sequenceRoute,
    auditRoute,
    suggestionsRoute,
    accessRoute,
    rawRoute,
    rawTableRoute,
    transformationsRoute,
    transformationRoute,
    calculatedRoute,
    modelsRoute,
    operationsRoute,
    connectRoute,
    apiRoute,
    otherRoute,
  ]),
]);

export function createConsoleRouter(queryClient: QueryClient) {
  const router = createRouter({
    routeTree,
    basepath: basePath(),
    parseSearch: parseAddress,
    stringifySearch: addressOf,
    search: { strict: true },
    context: { queryClient },
    defaultPreload: "intent",
    scrollRestoration: true,
    defaultErrorComponent: PageError,
    defaultPendingComponent: PagePending,
    defaultNotFoundComponent: NotFound,
  });
  // The router requests the session first, and for the page's code afterwards; here both load at once, while
  // the first render runs.
  const routes: { readonly [id: string]: AnyRoute } = router.routesById;
  for (const { routeId } of router.matchRoutes(router.latestLocation)) {
    if (routeId === frameRoute.id) void queryClient.prefetchQuery(sessionQuery);
    void router.loadRouteChunk(routes[routeId]!);
  }
  return router;
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
