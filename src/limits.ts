// The bounds that callers and operators can meet, in one place, with the relations between them asserted at
// start. A constant that only tunes one algorithm is declared beside it.
//
// docs/LIMITS.md is generated from this list. Published clients rely on some figures
// (docs/reference/common.md#limits-that-clients-rely-on).
import { invariant } from "./lib/invariant.ts";

interface Limit {
  readonly value: number;
  readonly unit: string;
  /** One sentence for docs/LIMITS.md: what is bounded, and what happens beyond it. */
  readonly meaning: string;
}

const limit = (value: number, unit: string, meaning: string): Limit => ({ value, unit, meaning });

export const described = {
  openBodyBytesMax: limit(
    16 * 2 ** 10,
    "bytes",
    "A request body, as sent and inflated, of an operation that needs no credentials or no body.",
  ),
  bodyBytesMax: limit(
    16 * 2 ** 20,
    "bytes",
    "A request body, as sent and inflated, of most operations. 10,000 names of any characters fit.",
  ),
  bulkBodyBytesMax: limit(
    64 * 2 ** 20,
    "bytes",
    "As `bodyBytesMax`, for operations that write many records, rows or points.",
  ),
  protobufBodyBytesMax: limit(
    8 * 2 ** 20,
    "bytes",
    "An insert of datapoints as protobuf: 100,000 numbers take 2 MiB.",
  ),
  entityBodyBytesMax: limit(
    8 * 2 ** 20,
    "bytes",
    "An insert of the entity-model interface: one raw row, with every character escaped.",
  ),
  inflationRatioMax: limit(
    256,
    "bytes",
    "Inflated bytes of a gzip body for each byte sent. Real bodies stay below 150.",
  ),
  inflationFreeBytes: limit(
    2 ** 20,
    "bytes",
    "Inflated bytes of a gzip body to which `inflationRatioMax` does not apply.",
  ),
  bodiesInFlightBytesMax: limit(
    192 * 2 ** 20,
    "bytes",
    "Memory of all bodies and their values together, besides `bodyReserveBytes`. Others wait.",
  ),
  clientBodiesBytesMax: limit(
    96 * 2 ** 20,
    "bytes",
    "The part of `bodiesInFlightBytesMax` for all bodies of one caller together.",
  ),
  bodyReserveBytes: limit(
    192 * 2 ** 20,
    "bytes",
    "Additional memory for one body, which completes even when others wait: its bytes, strings and values.",
  ),
  bodyBytesUncounted: limit(64 * 2 ** 10, "bytes", "A body up to this size never waits for larger ones."),
  bodyIdleMsMax: limit(
    20_000,
    "ms",
    "The time without new bytes of a body while the server could read them. Then it is refused with 408.",
  ),
  jsonValueBytes: limit(64, "bytes", "The memory that is reserved for each value of a JSON body."),
  jsonDepthMax: limit(64, "levels", "Nesting of a JSON body. A deeper body is refused."),
  jsonValuesMax: limit(
    1_000_000,
    "values",
    "Elements and members in a JSON body, except in the columns of raw rows. More are refused with 413.",
  ),
  jsonMembersMax: limit(10_000, "members", "Members of an object in a JSON body. More are refused with 413."),
  jsonStringBytesMax: limit(2 ** 20, "bytes", "One string in a JSON body. A longer one is refused with 413."),
  jsonTextBytesMax: limit(
    8 * 2 ** 20,
    "bytes",
    "The columns of one raw row or the definition of a trend, as sent. Longer ones are refused with 413.",
  ),
  jsonStepBytes: limit(
    16 * 2 ** 10,
    "bytes",
    "JSON that is parsed between two checks of the clock (about a millisecond).",
  ),
  itemsWithoutPause: limit(1_000, "items", "A request with more items first lets other requests run."),
  timeSliceMs: limit(10, "ms", "The time that long work takes before it lets other requests run."),
  pathSegmentBytesMax: limit(12_288, "bytes", "One path segment, such as a series name, before decoding."),
  headBytesMax: limit(
    32 * 2 ** 10,
    "bytes",
    "The path and all headers of a request. Longer is refused with 431.",
  ),
  idsPerQueryMax: limit(10_000, "ids", "Ids or names that one query looks up. More take several queries."),
  itemsPerWriteMax: limit(10_000, "items", "Items in one create, update, delete or by-ids request."),
  listItemsMax: limit(10_000, "items", "A page of a list. A larger `limit` is lowered to this."),
  pageLengthMax: limit(
    32 * 2 ** 20,
    "characters",
    "Records of one page, as JSON. A page that would be longer ends earlier, with a cursor to the next one.",
  ),
  pageLengthFirst: limit(
    2 * 2 ** 20,
    "characters",
    "Records of a page, as JSON, that fit into the memory that every list reserves. Most pages are shorter.",
  ),
  recordsPerBatch: limit(
    100,
    "records",
    "Records by ids that are read together. The server reads more while it sends the first ones.",
  ),
  recordsBatchBytes: limit(
    8 * 2 ** 20,
    "bytes",
    "Memory reserved for a response that is read in batches. Usually 100 of the largest records fit.",
  ),
  recordsPerChangeLengthMax: limit(
    64 * 2 ** 20,
    "characters",
    "Records that one update changes, as JSON. More are refused with 413.",
  ),
  responsesInFlightBytesMax: limit(
    192 * 2 ** 20,
    "bytes",
    "Memory of all responses that are read or sent. Further large responses wait, and end with 503.",
  ),
  clientResponsesBytesMax: limit(
    128 * 2 ** 20,
    "bytes",
    "The part of that for one caller: two of the largest pages, or 32 lists while they are read.",
  ),
  responseReserveBytes: limit(
    64 * 2 ** 20,
    "bytes",
    "Additional memory for one response that waits: as much as the largest page takes.",
  ),
  responseBytesUncounted: limit(64 * 2 ** 10, "bytes", "A response up to this size never waits for others."),
  responsePieceBytes: limit(
    512 * 2 ** 10,
    "bytes",
    "A longer response is sent in chunks of about this size, as fast as its client reads them.",
  ),
  responseStreamBytes: limit(
    8 * 2 ** 20,
    "bytes",
    "Memory reserved for a streamed response of datapoints: its pages of points and its unsent chunks.",
  ),
  responseIdleMsMax: limit(
    30_000,
    "ms",
    "A response is aborted when its client reads nothing for this time. Networks recover sooner.",
  ),
  responseMsMax: limit(
    900_000,
    "ms",
    "The time in which a client must read a whole response. Then the response is aborted.",
  ),
  assetDepthMax: limit(500, "levels", "Levels of assets below a root. Deeper ones are refused."),
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
  assetTypeFieldsMax: limit(200, "fields", "Fields of one asset type. More are refused."),
  assetTypesMax: limit(100, "types", "Asset types of one asset. More are refused."),
  searchFieldsMax: limit(
    200,
    "fields",
    "Fields of asset types in one search, because a database statement takes only some thousand values.",
  ),
  assetValuesLengthMax: limit(
    65_536,
    "characters",
    "All values of the asset types of one asset, as JSON. More are refused.",
  ),
  assetsListDefault: limit(100, "items", "A page of a list when `limit` is absent, except of events."),
  directoriesListMax: limit(1_000, "items", "Directories in one response. Each takes a query of its own."),
  eventsListDefault: limit(25, "items", "A page of events when `limit` is absent."),
  eventAssetsMax: limit(1_000, "items", "Assets that one event is linked to, and its tags."),
  eventPhrasesMax: limit(100, "phrases", "Semantic phrases of one event."),
  eventPhraseLengthMax: limit(1_000, "characters", "A semantic phrase."),
  eventTimeMsMax: limit(
    8_640_000_000_000_000,
    "ms",
    "The distance of the start or end of an event from 1970: the range of dates (275,760 years).",
  ),
  searchItemsMax: limit(1_000, "items", "A page of a search, and its `offset`. A larger `limit` is lowered."),
  searchItemsDefault: limit(25, "items", "Results of a search when `limit` is absent."),
  cursorDivisionsMax: limit(
    1_000,
    "cursors",
    "`divisions` of the cursors for parallel reads. A larger value is lowered to this.",
  ),
  nameLengthMax: limit(255, "characters", "The name of an asset or a time series."),
  textLengthMax: limit(8_192, "characters", "A description, unit, source or source id."),
  validDomainsMax: limit(1_000, "domains", "Valid domains of one project."),
  metadataPairsMax: limit(256, "pairs", "Metadata of one record."),
  metadataKeyLengthMax: limit(128, "characters", "A metadata key."),
  metadataLengthMax: limit(10_240, "characters", "All metadata keys and values of one record together."),
  externalIdLengthMax: limit(255, "characters", "The external id of a record."),
  sequencesPerPageMax: limit(
    1_000,
    "sequences",
    "Sequences in one request, and on a page of a list, where a larger `limit` is lowered to this.",
  ),
  sequenceColumnsLengthMax: limit(262_144, "characters", "All columns of one sequence, as JSON."),
  sequenceColumnsMax: limit(200, "columns", "Columns of one sequence. More are refused."),
  sequenceRowsPerWriteMax: limit(10_000, "rows", "Rows of a sequence in one request. More are refused."),
  sequenceRowsPerReadMax: limit(
    10_000,
    "rows",
    "Rows of a sequence in one response. A larger `limit` is lowered to this.",
  ),
  sequenceRowsPerReadDefault: limit(100, "rows", "Rows of a sequence in a response when `limit` is absent."),
  sequenceRowLengthMax: limit(16_384, "characters", "All values of one row of a sequence, as JSON."),
  labelsMax: limit(100, "labels", "Labels of one record."),
  fileNameLengthMax: limit(256, "characters", "The name of a file."),
  directoryLengthMax: limit(512, "characters", "The directory of a file."),
  fileSourceLengthMax: limit(128, "characters", "The source and the source id of a file."),
  fileTypeLengthMax: limit(64, "characters", "The type of a file."),
  fileLinksMax: limit(1_000, "items", "Assets that one file is linked to, and its tags."),
  fileBytesMax: limit(2 ** 40, "bytes", "The size of one file. A larger one is refused with 413."),
  uploadLinkMs: limit(30_000, "ms", "How long the link of a non-resumable upload accepts a file."),
  resumableLinkMs: limit(7 * 24 * 3_600_000, "ms", "How long the link of a resumable upload accepts bytes."),
  downloadLinkMs: limit(5 * 60_000, "ms", "How long a download link is valid."),
  uploadSweepMs: limit(60_000, "ms", "How often the bytes of expired uploads are deleted."),
  diskFreeBytesMin: limit(64 * 2 ** 20, "bytes", "Free disk below which only reads and deletes work."),
  diskFreePercentMin: limit(5, "%", "The same on a small disk, of its size. The smaller figure counts."),
  diskReserveBytes: limit(
    8 * 2 ** 20,
    "bytes",
    "A file whose deletion frees space on a full disk, for deletes.",
  ),
  diskReservePercent: limit(4, "%", "The same on a small disk, of its size. The smaller figure counts."),
  diskFilesMin: limit(
    100,
    "files",
    "The number of further files for which the disk must have space. Otherwise it counts as full.",
  ),
  diskCheckMs: limit(1_000, "ms", "How often the free disk is read; more often during an upload."),
  uploadFreeBytesMin: limit(
    2 ** 30,
    "bytes",
    "Free disk below which the server accepts no bytes of files, so that files leave space for other data.",
  ),
  uploadFreePercentMin: limit(10, "%", "The same on a small disk, of its size. The smaller figure counts."),
  uploadBytesPerDiskCheck: limit(8 * 2 ** 20, "bytes", "Bytes of an upload between checks of the free disk."),
  refusedBytesReadMax: limit(
    64 * 2 ** 20,
    "bytes",
    "Bytes of a file that the server reads after it refused the file, so that the client sees the response.",
  ),
  unfinishedUploadsPercentMax: limit(
    50,
    "%",
    "The part of the disk, as free without them, that all unfinished uploads may hold together.",
  ),
  refusalShownMs: limit(10_000, "ms", "How long `/health` reports a write that the disk refused."),
  retryAfterSeconds: limit(10, "s", "`Retry-After` of a 503 without a more exact figure."),
  uploadMsMax: limit(24 * 3_600_000, "ms", "The time one request may take to send the bytes of a file."),
  uploadIdleMsMax: limit(120_000, "ms", "A file transfer is aborted when it moves no bytes for this time."),
  securityCategoriesMax: limit(1_000, "ids", "Security categories of one time series."),
  erasuresAtOnce: limit(100, "series", "Deleted series whose datapoints are deleted at the same time."),
  seriesKeysCachedMax: limit(
    200_000,
    "keys",
    "Names and ids of series of a project that stay in memory (about 50 MB). Others need a catalog read.",
  ),
  projectsCachedMax: limit(1_000, "projects", "Projects whose series stay in memory."),
  rightsFiltersMax: limit(10_000, "filters", "Filters of permitted series with an id in a project's cache."),
  writePlansMax: limit(
    64,
    "plans",
    "Lists of series in repeated inserts that stay resolved. A list takes up to 2 MB.",
  ),
  writePlanSeriesMax: limit(10_000, "series", "Series of a write plan. Longer lists are resolved each time."),
  explanationItemsMax: limit(
    20,
    "items",
    "Grants, and assets of the record, in the explanation of a right. More do not help people.",
  ),
  seeAsGroupsMax: limit(100, "groups", "Groups of `X-See-As-Group` or an explanation. More are refused."),
  trendDefinitionBytesMax: limit(
    2 ** 16,
    "bytes",
    "The definition of a saved trend. A hundred series with all their settings fit.",
  ),
  rawKeyLengthMax: limit(1_024, "characters", "The key of a raw row."),
  rawColumnsLengthMax: limit(2 ** 20, "characters", "The columns of one raw row, as JSON."),
  rawCsvLineBytesMax: limit(
    4 * 2 ** 20,
    "bytes",
    "A line of a CSV upload of raw rows. A longer one is refused. The columns of a row fit into it.",
  ),
  rawCsvColumnsMax: limit(100_000, "columns", "Columns of a CSV upload of raw rows. More are refused."),
  rawRowsMax: limit(10_000, "rows", "Raw rows of a CSV upload, and of a page. A larger `limit` is lowered."),
  rawNamesMax: limit(1_000, "items", "A page of raw databases or tables. A larger `limit` is lowered."),
  rawItemsDefault: limit(25, "items", "A page of raw databases, tables or rows when `limit` is absent."),
  rowsErasedAtOnceMax: limit(
    10_000,
    "rows",
    "Rows of deleted tables and sequences that a transaction deletes.",
  ),
  erasureSliceMs: limit(25, "ms", "The intended time of such a transaction, during which other writes wait."),
  insertScanBytesMax: limit(
    6 * 2 ** 20,
    "bytes",
    "JSON of an insert that is parsed without a pause for other requests. Longer JSON is parsed in steps.",
  ),
  pointsPerWriteMax: limit(100_000, "points", "Datapoints in one insert, over all of its series."),
  pointsPerReadMax: limit(
    100_000,
    "points",
    "Raw datapoints of one series in one read. A larger `limit` is lowered to this.",
  ),
  bucketsPerReadMax: limit(
    10_000,
    "buckets",
    "Aggregates of one series in one read. A larger `limit` is lowered to this.",
  ),
  pointsPerReadDefault: limit(100, "points", "Datapoints, aggregates or frame rows when `limit` is absent."),
  datapointsHeldBytesMax: limit(
    6 * 2 ** 20,
    "bytes",
    "Datapoints of a response in memory: 100,000 points as JSON. For more, the points are read twice.",
  ),
  frameRowsMax: limit(100_000, "rows", "Rows of a data frame. A larger `limit` is lowered to this."),
  frameColumnsMax: limit(1_000, "columns", "Columns of a data frame. More are refused."),
  seriesPerReadMax: limit(100, "series", "Items of one multi-series query or data frame."),
  functionLengthMax: limit(4_096, "characters", "The expression of a calculated series. Longer is refused."),
  functionDepthMax: limit(64, "levels", "Nesting of brackets, functions and signs in a calculated series."),
  functionLeavesMax: limit(
    100,
    "series",
    "Different series and aggregates in one calculated series, and its aliases.",
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
  demoDaysMax: limit(90, "days", "History of the demo plant, also when its `days` are absent."),
  modelJsonLengthMax: limit(65_536, "characters", "Arguments, fields or the data spec of a model, as JSON."),
  modelBodyBytesMax: limit(
    4 * 2 ** 20,
    "bytes",
    "A request body, as sent and inflated, for models: a few times `modelJsonLengthMax`.",
  ),
  modelsListDefault: limit(
    250,
    "items",
    "A page of models, versions, packages or schedules without `limit`.",
  ),
  modelPackageBytesMax: limit(256 * 2 ** 20, "bytes", "A source package, compressed and also uncompressed."),
  modelPackageFilesMax: limit(10_000, "files", "Files and folders of a source package."),
  modelArtifactsMax: limit(1_000, "files", "Artifacts of one version of a model."),
  modelRunsAtOnce: limit(2, "runs", "Predictions and deployments at the same time. Others wait."),
  modelTrainingsAtOnce: limit(1, "runs", "Trainings at the same time. Others wait."),
  modelRunMsMax: limit(
    60_000,
    "ms",
    "The time of a prediction, and the processor time of each of its threads. Then it ends.",
  ),
  modelTrainMsMax: limit(3_600_000, "ms", "As `modelRunMsMax`, for a training."),
  modelMemoryBytesMax: limit(2 * 2 ** 30, "bytes", "Address space of a model's process."),
  modelFileBytesMax: limit(512 * 2 ** 20, "bytes", "A file or an artifact that the code of a model writes."),
  modelDiskBytesMax: limit(
    2 ** 30,
    "bytes",
    "The working folder of a model's process: code, artifacts and temporary files. It is in memory.",
  ),
  modelSharedMemoryBytesMax: limit(64 * 2 ** 20, "bytes", "Shared memory of a model's processes."),
  modelProcessesMax: limit(
    128,
    "threads",
    "Processes and threads of a model. Numeric libraries start some for each processor.",
  ),
  modelArtifactNameBytesMax: limit(1_024, "bytes", "The name of an artifact, with its folders."),
  modelChunkBytesMax: limit(65_536, "bytes", "A chunk of data between the server and a model's process."),
  modelOutputMsMax: limit(1_000, "ms", "How long the server reads the output of an ended model."),
  modelOpenFilesMax: limit(256, "files", "Open files and connections of a model's process."),
  modelLogBytesMax: limit(256 * 2 ** 10, "bytes", "Output that a model run prints. The rest is not stored."),
  modelLogsKeptMax: limit(100, "runs", "Runs of a version whose log is stored, the latest ones."),
  modelResultBytesMax: limit(16 * 2 ** 20, "bytes", "The predictions of one run, as JSON."),
  modelWindowsMissedMax: limit(
    1_000,
    "windows",
    "Missed windows that a schedule runs later. Older ones are skipped.",
  ),
  modelRunsKeptMax: limit(1_000, "runs", "Runs of a schedule that are listed, the latest ones."),
  modelTickMs: limit(1_000, "ms", "How often the server checks schedules for windows that are due."),
  timeMsMin: limit(Date.UTC(1900, 0, 1), "ms", "The earliest timestamp of a datapoint (1900-01-01)."),
  timeMsMax: limit(Date.UTC(2100, 0, 1) - 1, "ms", "The latest timestamp of a datapoint (2099-12-31)."),
  stringValueLengthMax: limit(16_384, "characters", "A value of a string series."),
  journalGroupBytesMax: limit(8 * 2 ** 20, "bytes", "Requests that share a sync of the journal. More wait."),
  pointsInFlightBytesMax: limit(
    48 * 2 ** 20,
    "bytes",
    "Accepted datapoints that the shards have not applied yet. Further writes wait.",
  ),
  journalCheckpointBytes: limit(
    64 * 2 ** 20,
    "bytes",
    "Size of the journal at which all points are flushed to blocks.",
  ),
  journalIdleMs: limit(5_000, "ms", "A pause in writing after which all points are flushed to blocks."),
  journalIdleBytes: limit(256 * 2 ** 10, "bytes", "A journal up to this size is not flushed in a pause."),
  journalBytesMax: limit(128 * 2 ** 20, "bytes", "Journal on disk. Further writes wait for the checkpoint."),
  requestMsMax: limit(
    120_000,
    "ms",
    "The deadline of a request until its response begins. Then it gets a 503.",
  ),
  receiveMsMax: limit(
    120_000,
    "ms",
    "The time a client may take to send a request. Then it is refused with 408.",
  ),
  shutdownMsMax: limit(10_000, "ms", "The time that active requests have to finish after SIGTERM."),
  keyCacheMsMax: limit(500, "ms", "The time until a server sees that an API key was created or revoked."),
  keyUseAccuracyMs: limit(60_000, "ms", "The accuracy of the last use of an API key."),
  keyChainMax: limit(16, "keys", "API keys in a chain in which each key created the next. More are refused."),
  keyEndMsMax: limit(8_640_000_000_000_000, "ms", "The latest end of an API key, at the end of all dates."),
  groupsBodyBytesMax: limit(4 * 2 ** 20, "bytes", "A request body for groups. Rights are compared at once."),
  groupsPerPageMax: limit(1_000, "groups", "A page of groups. A larger `limit` is lowered to this."),
  groupRightsLengthMax: limit(65_536, "characters", "Capabilities and permissions of a group, as JSON."),
  accountGroupsMax: limit(100, "groups", "Groups of one service account."),
  categoriesPerPageMax: limit(
    1_000,
    "categories",
    "A page of security categories. A larger `limit` is lowered.",
  ),
  categoriesListDefault: limit(25, "categories", "A page of security categories when `limit` is absent."),
  addressLengthMax: limit(1_024, "characters", "The address of an identity provider, or a redirect address."),
  redirectUrlsMax: limit(
    100,
    "addresses",
    "Redirect addresses of one project, to which browsers may be sent with tokens.",
  ),
  audiencesMax: limit(100, "audiences", "Audiences of tokens for one project."),
  tokenLengthMax: limit(16_384, "characters", "A token. A longer one is not valid."),
  tokenGroupsMax: limit(1_000, "groups", "Groups of one token that count. Later ones are ignored."),
  clockToleranceMs: limit(30_000, "ms", "The allowed difference to the clock of an identity provider."),
  providerResponseMsMax: limit(5_000, "ms", "The time in which an identity provider must respond."),
  providerResponseBytesMax: limit(2 ** 18, "bytes", "A response of an identity provider."),
  providerFreshMsMax: limit(
    10 * 60_000,
    "ms",
    "How long the keys of an identity provider are used before the server requests them again.",
  ),
  providerRefetchMsMin: limit(
    10_000,
    "ms",
    "The minimum time between two requests to an identity provider for its keys, also after a failure.",
  ),
  providerStaleMsMax: limit(
    24 * 3_600_000,
    "ms",
    "How long the keys of an identity provider are used while it does not respond. Then its tokens get 503.",
  ),
  loginMsMax: limit(3_600_000, "ms", "How long the tokens and the cookie of a login in a browser are valid."),
  sessionMsMax: limit(43_200_000, "ms", "How long a session of the console is valid: one shift of work."),
  sessionsPerAccountMax: limit(100, "sessions", "Sessions and links of one account; more end the oldest."),
  signInLinkMsMax: limit(3_600_000, "ms", "How long a one-time link to the console is valid."),
  pendingLoginMsMax: limit(600_000, "ms", "How long a login in a browser may take at the provider."),
  throttledNamesMax: limit(
    20_000,
    "names",
    "Addresses and credentials whose logins and failures are counted. The oldest may be forgotten.",
  ),
  staticFileBytesMax: limit(
    16 * 2 ** 20,
    "bytes",
    "A file of the console. The server keeps the files in memory and serves no larger one.",
  ),
  compressionBytesMin: limit(2_048, "bytes", "Smaller responses are never compressed with gzip."),
  importPointsPerRequest: limit(20_000, "points", "Datapoints that `millrace import` sends in one request."),
  importBodyBytesMax: limit(8 * 2 ** 20, "bytes", "The body of one request of `millrace import`."),
  importLineBytesMax: limit(
    16 * 2 ** 20,
    "bytes",
    "A line of a file or of an archive that `millrace import` reads. A longer one ends the import.",
  ),
  importItemsPerRequest: limit(1_000, "items", "Series that `millrace import` creates in one request."),
  importRequestsInFlight: limit(4, "requests", "Requests that `millrace import` sends at the same time."),
  importRetriesMax: limit(8, "retries", "Retries of `millrace import` after 429, 5xx or no response."),
  importRetryWaitMsMax: limit(10_000, "ms", "The longest wait of `millrace import` before a retry."),
  importNamesShownMax: limit(10, "names", "Missing series and assets that `millrace import` names together."),
  importRefusedShownMax: limit(
    10,
    "cells",
    "Refused cells that `millrace import` prints. The report has all.",
  ),
  odataExpressionLengthMax: limit(8_192, "characters", "A `$filter` of the entity-model interface."),
  odataExpressionPartsMax: limit(500, "parts", "Names, values and operators of a `$filter`."),
  odataExpressionDepthMax: limit(100, "levels", "Nesting of a `$filter`."),
  odataEncodedLengthMax: limit(
    262_144,
    "characters",
    "Open data of an insert with annotations or encoded names, which are decoded without a pause.",
  ),
  odataExpandDepthMax: limit(4, "levels", "Nesting of `$expand`."),
  odataExpansionsMax: limit(100, "navigations", "Expansions of one request, including nested ones and `*`."),
  odataPageMax: limit(1_000, "entities", "A page of an entity set. A link leads to the next one."),
  odataPointsPageMax: limit(10_000, "entities", "A page of datapoints or of aggregates."),
  odataRowsPageMax: limit(10_000, "rows", "A page of raw rows. A page of long rows ends earlier."),
  odataPointsScannedMax: limit(
    1_000_000,
    "points",
    "Points or buckets that a filter by values examines for one page. The next page continues.",
  ),
  odataFilteredRowsMax: limit(
    100_000,
    "rows",
    "Raw or sequence rows that a filter by data examines for one page. The next page continues.",
  ),
  odataFilteredCharactersMax: limit(
    200_000_000,
    "characters",
    "Characters of these rows, times the conditions of the filter, for one page. The next page continues.",
  ),
  filteredRowsPerRead: limit(5_000, "rows", "Rows that are read together for a filter by data."),
  odataPreviewMax: limit(
    1_000,
    "entities",
    "The largest `$top` for which a set that requires a filter returns entities without one.",
  ),
  odataExpandedMax: limit(20_000, "entities", "Expanded entities of a response. Links lead to further ones."),
  recordsMissedFirst: limit(
    50,
    "records",
    "Records, plus 1/10 of a page, that a scan may reject by asset conditions before records are gathered.",
  ),
  recordsGatheredFirst: limit(
    20_000,
    "records",
    "Records that are gathered by their assets and sorted, after that first scan rejected too many.",
  ),
  recordsMissedMax: limit(
    5_000,
    "records",
    "Records that the next scan may reject, for a page of 100, before more records are gathered.",
  ),
  recordsGatheredMax: limit(
    200_000,
    "records",
    "Records that are gathered by their assets and sorted. For more, the scan continues to the end.",
  ),
  recordsRankedMax: limit(
    5_000,
    "records",
    "Records with the words of a search that are all ranked. Of more, the best are read rank by rank.",
  ),
  recordsIndexedAtOnce: limit(
    50_000,
    "records",
    "Records that are added to a new index of the catalog between two progress messages.",
  ),
  catalogReadersMax: limit(8, "transactions", "Catalog reads open at the same time. Further ones wait."),
  catalogPieceLength: limit(
    2 ** 18,
    "characters",
    "Rows in one message to or from the thread of the catalog, so that it is decoded in milliseconds.",
  ),
  catalogCacheKibMax: limit(16 * 1024, "KiB", "Pages of the catalog that one connection caches in memory."),
  catalogLogPages: limit(
    16_000,
    "pages",
    "Pages of 4 KiB in the write-ahead log of the catalog after which they are moved into its file.",
  ),
  catalogIdleMs: limit(3_000, "ms", "Time without changes until the log of the catalog is emptied."),
  catalogBusyMsMax: limit(
    10_000,
    "ms",
    "How long a write waits for another process that writes the catalog.",
  ),
  preparedStatementsMax: limit(500, "statements", "Prepared database statements of each connection."),
} as const;

type Limits = { readonly [Name in keyof typeof described]: number };

export const limits = Object.fromEntries(
  Object.entries(described).map(([name, one]) => [name, one.value]),
) as Limits;

/** Four bytes of UTF-8, each percent-encoded. */
const bytesPerEncodedCharacterMax = 12;

/** A UTF-16 code unit takes at most three bytes of UTF-8. */
const utf8BytesPerCharacterMax = 3;

invariant(
  2 * limits.bulkBodyBytesMax + limits.jsonValuesMax * limits.jsonValueBytes <= limits.bodyReserveBytes,
  "the largest body fits into its reserve when other bodies hold all the rest",
);
invariant(
  limits.openBodyBytesMax <= limits.bodyBytesUncounted,
  "requests without credentials take no memory from others",
);
invariant(
  limits.modelPackageBytesMax + limits.modelFileBytesMax < limits.modelDiskBytesMax,
  "the largest package and an artifact of the largest size fit into the folder of a run",
);
invariant(
  limits.pageLengthMax * 2 <= limits.responseReserveBytes,
  "the largest page fits into the memory for responses, also at two bytes a character",
);
invariant(
  limits.rawColumnsLengthMax <= limits.pageLengthMax,
  "a page holds at least one raw row of the largest size",
);
invariant(limits.modelRunMsMax < limits.requestMsMax, "a prediction ends before its request does");
invariant(limits.searchItemsDefault <= limits.searchItemsMax, "a default is within its maximum");
invariant(
  limits.nameLengthMax * bytesPerEncodedCharacterMax <= limits.pathSegmentBytesMax,
  "every name of a series fits into a path",
);
invariant(
  limits.rawKeyLengthMax * bytesPerEncodedCharacterMax <= limits.pathSegmentBytesMax,
  "every key of a raw row fits into a path",
);
invariant(
  (limits.rawKeyLengthMax + 2 * limits.nameLengthMax) * bytesPerEncodedCharacterMax < limits.headBytesMax,
  "every key of a raw row fits into a path together with its database and table",
);
invariant(
  limits.rawColumnsLengthMax * utf8BytesPerCharacterMax < limits.rawCsvLineBytesMax,
  "the columns of a raw row fit into a line of CSV",
);
invariant(
  limits.computationsPerCaller < limits.computationsAtOnce &&
    limits.computationsLargePerCaller < limits.computationsLargeAtOnce,
  "one caller cannot occupy all computations",
);
invariant(limits.rawRowsMax <= limits.itemsPerWriteMax, "rows in CSV are no more than rows in JSON");
invariant(
  limits.importPointsPerRequest <= limits.pointsPerWriteMax,
  "the server accepts the requests of the importer",
);
invariant(
  limits.importBodyBytesMax <= limits.bulkBodyBytesMax,
  "the server accepts the requests of the importer",
);
invariant(
  limits.importItemsPerRequest <= limits.itemsPerWriteMax,
  "the server accepts the requests of the importer",
);
invariant(
  limits.journalCheckpointBytes < limits.journalBytesMax,
  "a checkpoint begins before writes must wait",
);
invariant(
  limits.journalGroupBytesMax <= limits.pointsInFlightBytesMax,
  "a full group of writes can be in flight",
);
