// The registry of resources: the parts of each in the server. Tables, routes, the OpenAPI description, the
// entity model and the restore of times follow from it; `src/transfers.ts` has the part for archives and
// imports.

import { endedSessionTable } from "./access/ended-sessions.ts";
import { accountTable, apiKeyTable, groupTable, sessionTable } from "./access/schema.ts";
import { auditCopyTable, auditHeadTable, auditIntentTable, auditRecordTable } from "./audit/schema.ts";
import { copyTable } from "./copy/copy-record.ts";
import { loginRoutes } from "./http/login.ts";
import { sessionRoutes } from "./http/session.ts";
import { type NotCovered, none } from "./lib/not-covered.ts";
import { assembleModel, type EntityModelPart } from "./odata/model.ts";
import { analyticsRoutes } from "./resources/analytics/analytics.rest.ts";
import { jobTable } from "./resources/analytics/schema.ts";
import { archiveRoutes } from "./resources/archives/archives.rest.ts";
import { assetTypeRoutes } from "./resources/assets/asset-types/asset-types.rest.ts";
import { assetTypeTable } from "./resources/assets/asset-types/schema.ts";
import { assetModel } from "./resources/assets/assets.odata.ts";
import { assetRoutes } from "./resources/assets/assets.rest.ts";
import { assetTable } from "./resources/assets/schema.ts";
import { auditModel } from "./resources/audit/audit.odata.ts";
import { auditRoutes } from "./resources/audit/audit.rest.ts";
import { calculatedModel } from "./resources/calculated/calculated.odata.ts";
import { calculatedRoutes } from "./resources/calculated/calculated.rest.ts";
import { type TimedRecords, timedRecords } from "./resources/common/restored-times.ts";
import { configurationRoutes } from "./resources/configuration/configuration.rest.ts";
import { connectorModel } from "./resources/connectors/connectors.odata.ts";
import { connectorRoutes } from "./resources/connectors/connectors.rest.ts";
import { connectorTable } from "./resources/connectors/schema.ts";
import { contentsRoutes } from "./resources/contents/contents.rest.ts";
import { levelRoutes } from "./resources/contents/levels.rest.ts";
import { datapointRoutes } from "./resources/datapoints/datapoints.rest.ts";
import { datapointModel } from "./resources/datapoints/odata/datapoints.odata.ts";
import { demoRoutes } from "./resources/demo/demo.rest.ts";
import { demoTable } from "./resources/demo/schema.ts";
import { eventModel } from "./resources/events/events.odata.ts";
import { eventRoutes } from "./resources/events/events.rest.ts";
import { namedTypeRoutes } from "./resources/events/named-types.rest.ts";
import { eventTable, eventTransformerTable, semanticTypeTable } from "./resources/events/schema.ts";
import { explanationRoutes } from "./resources/explanations/explanations.rest.ts";
import { fileLinkRoutes } from "./resources/files/blobs.rest.ts";
import { timedFiles } from "./resources/files/changes.ts";
import { fileModel } from "./resources/files/files.odata.ts";
import { fileRoutes } from "./resources/files/files.rest.ts";
import { attachmentTable, fileTable, removalTable, uploadTable } from "./resources/files/schema.ts";
import { groupRoutes } from "./resources/groups/groups.rest.ts";
import { securityCategoryTable } from "./resources/groups/schema.ts";
import { securityCategoryRoutes } from "./resources/groups/security-categories.rest.ts";
import { accountRoutes } from "./resources/identities/accounts.rest.ts";
import { apiKeyRoutes } from "./resources/identities/api-keys.rest.ts";
import { modelRoutes } from "./resources/models/models.rest.ts";
import { scheduleRunTable, scheduleTable } from "./resources/models/schedules/schema.ts";
import {
  artifactTable,
  logTable,
  modelTable,
  sourcePackageTable,
  versionTable,
} from "./resources/models/schema.ts";
import { projectRoutes } from "./resources/projects/projects.rest.ts";
import { projectTable } from "./resources/projects/schema.ts";
import { rawModel } from "./resources/raw/raw.odata.ts";
import { rawRoutes } from "./resources/raw/raw.rest.ts";
import {
  ownedRawRows,
  rawCommitTable,
  rawDatabaseTable,
  rawDeletionTable,
  rawRowTable,
  rawTableTable,
} from "./resources/raw/schema.ts";
import { relationshipModel } from "./resources/relationships/relationships.odata.ts";
import { relationshipRoutes } from "./resources/relationships/relationships.rest.ts";
import { relationshipTable } from "./resources/relationships/schema.ts";
import { retentionModel } from "./resources/retention/retention.odata.ts";
import { retentionRoutes } from "./resources/retention/retention.rest.ts";
import { retainedSeriesTable, retentionClockTable, retentionTable } from "./resources/retention/schema.ts";
import { timedSequences } from "./resources/sequences/changes.ts";
import {
  ownedSequenceRows,
  sequenceDeletionTable,
  sequenceRowTable,
  sequenceTable,
} from "./resources/sequences/schema.ts";
import { sequenceModel } from "./resources/sequences/sequences.odata.ts";
import { sequenceRoutes } from "./resources/sequences/sequences.rest.ts";
import { suggestionTable } from "./resources/suggestions/schema.ts";
import { suggestionModel } from "./resources/suggestions/suggestions.odata.ts";
import { suggestionRoutes } from "./resources/suggestions/suggestions.rest.ts";
import { tagMatchingRoutes } from "./resources/tag-matching/tag-matching.rest.ts";
import { pendingDeletionTable, timeSeriesTable } from "./resources/timeseries/schema.ts";
import { timeSeriesModel } from "./resources/timeseries/timeseries.odata.ts";
import { timeSeriesRoutes } from "./resources/timeseries/timeseries.rest.ts";
import { permittedSeries } from "./resources/timeseries/timeseries.ts";
import { transformationRunTable, transformationTable } from "./resources/transformations/schema.ts";
import { transformationModel } from "./resources/transformations/transformations.odata.ts";
import { transformationRoutes } from "./resources/transformations/transformations.rest.ts";
import { trendTable } from "./resources/trends/schema.ts";
import { trendRoutes } from "./resources/trends/trends.rest.ts";
import { openApiOf } from "./rest/openapi.ts";
import type { ApiVersion, LinkRoute, Route } from "./rest/route.ts";
import { withSingleDeletes } from "./rest/single-deletes.ts";
import type { AnyTable } from "./storage/catalog.ts";
import { manifestTable } from "./storage/manifest.ts";
import type { OwnedRows } from "./storage/row-deletions.ts";
import { type ResourceName, resourceNames } from "./transfers.ts";

/** An entry names the parts that do not cover the resource, and why. */
export interface Resource {
  readonly tables: readonly AnyTable[];
  readonly routes: readonly Route[];
  /** Routes that a signed link permits. */
  readonly linkRoutes?: readonly LinkRoute[];
  readonly odata: EntityModelPart | NotCovered;
  /** The path of its search over REST. */
  readonly search: `/${string}` | NotCovered;
  /** Records whose times an archive restores; their list is the name of the resource. */
  readonly timed: TimedRecords | NotCovered;
  /** Rows that are deleted in the background after the record that owns them. */
  readonly ownedRows?: OwnedRows;
}

const administrative = none("administration is part of the REST API alone");
const noRecords = none("it stores no records");
const notArchived = none("archives do not have its records");
const noSearch = none("the REST API has no search for it");

type EntryName = Exclude<ResourceName, "archives" | "explanations">;

const entries: Readonly<Record<EntryName, Resource>> = {
  projects: {
    tables: [projectTable],
    routes: projectRoutes,
    ...{ odata: administrative, search: noSearch, timed: none("a restore keeps the record of the target") },
  },
  identities: {
    tables: [apiKeyTable, accountTable, sessionTable, endedSessionTable],
    routes: [...accountRoutes, ...apiKeyRoutes],
    ...{ odata: administrative, search: noSearch, timed: notArchived },
  },
  groups: {
    tables: [groupTable, securityCategoryTable],
    routes: [...groupRoutes, ...securityCategoryRoutes],
    ...{ odata: administrative, search: noSearch, timed: none("security categories have no times") },
  },
  assets: {
    tables: [assetTable, assetTypeTable],
    routes: [...assetRoutes, ...assetTypeRoutes],
    odata: assetModel,
    search: "/assets/search",
    timed: timedRecords(assetTable, { acl: "assetsAcl" }),
  },
  "tag-matching": {
    tables: [],
    routes: tagMatchingRoutes,
    ...{ odata: none("it is a function of the REST API alone"), search: noRecords, timed: noRecords },
  },
  timeseries: {
    tables: [timeSeriesTable, pendingDeletionTable],
    routes: timeSeriesRoutes,
    odata: timeSeriesModel,
    search: "/timeseries/search",
    timed: timedRecords(timeSeriesTable, {
      acl: "timeSeriesAcl",
      permitted: permittedSeries,
    }),
  },
  datapoints: {
    tables: [],
    routes: datapointRoutes,
    odata: datapointModel,
    ...{ search: noSearch, timed: none("points have their own times") },
  },
  calculated: {
    tables: [],
    routes: calculatedRoutes,
    odata: calculatedModel,
    ...{ search: noRecords, timed: noRecords },
  },
  analytics: {
    tables: [jobTable],
    routes: analyticsRoutes,
    ...{ odata: none("jobs are part of the REST API alone"), search: noSearch, timed: notArchived },
  },
  events: {
    tables: [eventTable, eventTransformerTable, semanticTypeTable],
    routes: [...eventRoutes, ...namedTypeRoutes],
    odata: eventModel,
    search: "/events/search",
    timed: timedRecords(eventTable, { acl: "eventsAcl" }),
  },
  files: {
    tables: [fileTable, uploadTable, attachmentTable, removalTable],
    routes: fileRoutes,
    linkRoutes: fileLinkRoutes,
    odata: fileModel,
    search: "/files/search",
    timed: timedFiles,
  },
  raw: {
    tables: [rawDatabaseTable, rawTableTable, rawRowTable, rawCommitTable, rawDeletionTable],
    routes: rawRoutes,
    odata: rawModel,
    ...{ search: noSearch, timed: none("rows are restored together with their times") },
    ownedRows: ownedRawRows,
  },
  sequences: {
    tables: [sequenceTable, sequenceRowTable, sequenceDeletionTable],
    routes: sequenceRoutes,
    odata: sequenceModel,
    search: "/sequences/search",
    timed: timedSequences,
    ownedRows: ownedSequenceRows,
  },
  relationships: {
    tables: [relationshipTable],
    routes: relationshipRoutes,
    odata: relationshipModel,
    search: noSearch,
    timed: timedRecords(relationshipTable, { acl: "relationshipsAcl" }),
  },
  suggestions: {
    tables: [suggestionTable],
    routes: suggestionRoutes,
    odata: suggestionModel,
    search: noSearch,
    timed: none("a restored suggestion is a new one, and keeps only its state"),
  },
  retention: {
    tables: [retentionTable, retainedSeriesTable, retentionClockTable],
    routes: retentionRoutes,
    odata: retentionModel,
    search: noSearch,
    timed: none("a restored rule is a new one"),
  },
  contents: {
    tables: [],
    routes: [...levelRoutes, ...contentsRoutes],
    ...{ odata: none("`$count` counts them"), search: noRecords, timed: noRecords },
  },
  trends: {
    tables: [trendTable],
    routes: trendRoutes,
    odata: none("trends are part of the REST API alone"),
    search: none("the list finds words with `query`"),
    timed: timedRecords(trendTable, { acl: "trendsAcl" }),
  },
  connectors: {
    tables: [connectorTable],
    routes: connectorRoutes,
    odata: connectorModel,
    ...{ search: noSearch, timed: notArchived },
  },
  transformations: {
    tables: [transformationTable, transformationRunTable],
    routes: transformationRoutes,
    odata: transformationModel,
    search: noSearch,
    timed: timedRecords(transformationTable, { acl: "transformationsAcl" }),
  },
  demo: {
    tables: [demoTable],
    routes: demoRoutes,
    ...{ odata: administrative, search: noSearch, timed: notArchived },
  },
  models: {
    tables: [
      ...[modelTable, sourcePackageTable, versionTable, artifactTable, logTable],
      ...[scheduleTable, scheduleRunTable],
    ],
    routes: modelRoutes,
    ...{ odata: none("models are part of the REST API alone"), search: noSearch, timed: notArchived },
  },
  audit: {
    tables: [auditRecordTable, auditHeadTable, auditIntentTable, auditCopyTable],
    routes: auditRoutes,
    ...{ odata: auditModel, search: noSearch, timed: notArchived },
  },
  configuration: {
    tables: [],
    routes: configurationRoutes,
    ...{ odata: none("the records are in their own sets"), search: noRecords, timed: noRecords },
  },
};

const timed = Object.fromEntries(
  Object.entries(entries).flatMap(([name, entry]) => ("table" in entry.timed ? [[name, entry.timed]] : [])),
);

/** By the name of the folder in `src/resources/`. */
export const resources: Readonly<Record<ResourceName, Resource>> = {
  ...entries,
  archives: {
    tables: [],
    routes: archiveRoutes(timed),
    ...{ odata: administrative, search: noRecords, timed: noRecords },
  },
  explanations: {
    tables: [],
    routes: explanationRoutes(timed),
    ...{ odata: administrative, search: noRecords, timed: noRecords },
  },
};

const all = resourceNames.map((name) => resources[name]);

/** The records of the data folder and of its copy, and the tables of all resources. */
export const tables: readonly AnyTable[] = [manifestTable, copyTable, ...all.flatMap((one) => one.tables)];

/** Every operation of every resource. */
export const routes: readonly Route[] = withSingleDeletes(all.flatMap((one) => one.routes));

export const linkRoutes: readonly LinkRoute[] = all.flatMap((one) => one.linkRoutes ?? []);

/** The entity model of all resources. */
export const model = assembleModel(all.flatMap(({ odata }) => ("notCovered" in odata ? [] : [odata])));

export const ownedRows: readonly OwnedRows[] = all.flatMap((one) => one.ownedRows ?? []);

/** Routes outside any project. */
export const openRoutes = [...loginRoutes, ...sessionRoutes];

/** The OpenAPI description of one version. */
export const describe = (version: ApiVersion) => openApiOf(version, routes, openRoutes, linkRoutes);
