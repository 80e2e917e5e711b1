// Every bound of the product in one place, with the relations between them asserted at start.
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
    "A request body, as sent and inflated, of most operations: 10,000 names of any characters.",
  ),
  bulkBodyBytesMax: limit(
    64 * 2 ** 20,
    "bytes",
    "As `bodyBytesMax`, of operations that write many records, rows or points.",
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
    "Inflated bytes of a gzip body for each byte sent; real bodies stay below 150.",
  ),
  inflationFreeBytes: limit(
    2 ** 20,
    "bytes",
    "Inflated bytes of a gzip body to which `inflationRatioMax` does not apply.",
  ),
  bodiesInFlightBytesMax: limit(
    192 * 2 ** 20,
    "bytes",
    "Memory that bodies and their values take together, but for one body; others wait.",
  ),
  clientBodiesBytesMax: limit(
    96 * 2 ** 20,
    "bytes",
    "The part of `bodiesInFlightBytesMax` that the bodies of one caller take together.",
  ),
  bodyReserveBytes: limit(
    192 * 2 ** 20,
    "bytes",
    "Beside it for one body, which ends even when all others wait: its bytes, strings and values.",
  ),
  bodyBytesUncounted: limit(64 * 2 ** 10, "bytes", "A body up to this size never waits for larger ones."),
  bodyIdleMsMax: limit(
    20_000,
    "ms",
    "How long nothing of a body may arrive while the server could take it; then it is refused with 408.",
  ),
  jsonValueBytes: limit(64, "bytes", "The memory that one value of a JSON body counts for."),
  jsonDepthMax: limit(64, "levels", "Nesting of a JSON body; deeper is refused."),
  jsonValuesMax: limit(
    1_000_000,
    "values",
    "Elements and members in a JSON body, except in the columns of raw rows; more are refused with 413.",
  ),
  jsonMembersMax: limit(
    10_000,
    "members",
    "Members of one object in a JSON body; more are refused with 413.",
  ),
  jsonStringBytesMax: limit(2 ** 20, "bytes", "One string in a JSON body; longer is refused with 413."),
  jsonTextBytesMax: limit(
    8 * 2 ** 20,
    "bytes",
    "The columns of one raw row in a JSON body, in any characters; longer are refused with 413.",
  ),
  jsonStepBytes: limit(
    16 * 2 ** 10,
    "bytes",
    "JSON that is read between two looks at the clock (about a millisecond).",
  ),
  itemsWithoutTurn: limit(1_000, "items", "Items of a request that begin without a turn for others."),
  turnMs: limit(10, "ms", "The time that long work takes before other requests have their turn."),
  pathSegmentBytesMax: limit(12_288, "bytes", "One path segment, such as a series name, before decoding."),
  headBytesMax: limit(
    32 * 2 ** 10,
    "bytes",
    "The path and all headers of a request; longer is refused (431).",
  ),
  itemsPerWriteMax: limit(10_000, "items", "Items in one create, update, delete or by-ids request."),
  listItemsMax: limit(10_000, "items", "A page of a list; a larger `limit` is lowered to this."),
  pageLengthMax: limit(
    32 * 2 ** 20,
    "characters",
    "Records of one page, as JSON; a page that would be longer ends earlier, with a cursor to go on.",
  ),
  pageLengthFirst: limit(
    2 * 2 ** 20,
    "characters",
    "Records of a page, as JSON, that need no more memory than every list reserves; most pages are shorter.",
  ),
  recordsPerBatch: limit(
    100,
    "records",
    "Records by their ids that are read at once; more are read while the first ones are sent.",
  ),
  recordsBatchBytes: limit(
    8 * 2 ** 20,
    "bytes",
    "Memory reserved for a response that is read in batches; 100 records of the largest size as a rule.",
  ),
  recordsPerChangeLengthMax: limit(
    64 * 2 ** 20,
    "characters",
    "Records that one update changes, as JSON; more are refused (413).",
  ),
  responsesInFlightBytesMax: limit(
    192 * 2 ** 20,
    "bytes",
    "Memory of all responses that are read or sent; further large responses wait, at last for 503.",
  ),
  clientResponsesBytesMax: limit(
    128 * 2 ** 20,
    "bytes",
    "What the responses of one caller take of that: two of the largest pages, or 32 lists as they are read.",
  ),
  responseReserveBytes: limit(
    64 * 2 ** 20,
    "bytes",
    "Beside it, memory for one response that waits: as much as the largest page takes.",
  ),
  responseBytesUncounted: limit(64 * 2 ** 10, "bytes", "A response up to this size never waits for others."),
  responsePieceBytes: limit(
    512 * 2 ** 10,
    "bytes",
    "A longer response is sent in pieces of about this size, as fast as its reader takes them.",
  ),
  responseStreamBytes: limit(
    8 * 2 ** 20,
    "bytes",
    "Memory reserved for a streamed response of datapoints: the pages of points and the pieces on their way.",
  ),
  responseIdleMsMax: limit(
    30_000,
    "ms",
    "A response of which its reader takes nothing for so long is broken off; networks recover sooner.",
  ),
  responseMsMax: limit(
    900_000,
    "ms",
    "The time in which a reader must have taken a response; then it is broken off.",
  ),
  assetDepthMax: limit(500, "levels", "Levels of assets below a root; deeper is refused."),
  tagsPerMatchMax: limit(1_000, "tags", "Tags of one tag matching; more are refused."),
  tagMatchesMax: limit(100, "matches", "Matches of one tag, the best of all."),
  tagEditsMax: limit(10, "edits", "`fuzzyThreshold` of a tag matching; a larger one is lowered to this."),
  tagNamesPerBatch: limit(
    100_000,
    "names",
    "Names of assets that a tag matching holds in its index at once (about 30 MB); more are indexed in turn.",
  ),
  tagBatchCharacters: limit(
    2 * 2 ** 20,
    "characters",
    "Characters of such names; a batch of longer names has fewer of them.",
  ),
  assetNamesAtOnce: limit(
    5_000,
    "names",
    "Names of assets that a tag matching reads at once, so that other requests go on (some milliseconds).",
  ),
  computationsLargeAtOnce: limit(
    6,
    "computations",
    "Tag matchings at the same time, as each holds up to 100 MB; others wait.",
  ),
  computationsLargePerCaller: limit(2, "computations", "Of these, those of one caller; further ones wait."),
  computationsAtOnce: limit(
    32,
    "computations",
    "Other long computations (filters over data) at the same time; others wait.",
  ),
  computationsPerCaller: limit(8, "computations", "Of these, those of one caller; further ones wait."),
  computationsBackgroundAtOnce: limit(4, "computations", "Pattern searches at the same time; others wait."),
  computationsBackgroundPerCaller: limit(2, "computations", "Of these, those of one caller."),
  computationCharactersMax: limit(
    1_000_000_000,
    "characters",
    "Characters that one tag matching compares (about 10 s); one that needs more is refused.",
  ),
  assetTypeFieldsMax: limit(200, "fields", "Fields of one asset type; more are refused."),
  assetTypesMax: limit(100, "types", "Asset types that one asset has; more are refused."),
  searchFieldsMax: limit(
    200,
    "fields",
    "Fields of asset types in one search; a statement of the database takes some thousand values.",
  ),
  assetValuesLengthMax: limit(
    65_536,
    "characters",
    "All values that one asset has of its types, as JSON; more are refused.",
  ),
  assetsListDefault: limit(100, "items", "A page of a list when `limit` is absent, except of events."),
  eventsListDefault: limit(25, "items", "A page of events when `limit` is absent."),
  eventAssetsMax: limit(1_000, "items", "Assets that one event is linked to, and its tags."),
  eventPhrasesMax: limit(100, "phrases", "Semantic phrases of one event."),
  eventPhraseLengthMax: limit(1_000, "characters", "The text of a semantic phrase."),
  eventTimeMsMax: limit(
    8_640_000_000_000_000,
    "ms",
    "How far from 1970 an event may start or end, either way: as far as dates go (275,760 years).",
  ),
  searchItemsMax: limit(1_000, "items", "A page of a search, and its `offset`; a larger `limit` is lowered."),
  searchItemsDefault: limit(25, "items", "Results of a search when `limit` is absent."),
  cursorDivisionsMax: limit(
    1_000,
    "cursors",
    "`divisions` of the cursors for parallel reads; more is lowered.",
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
    "A page of a list, where a larger `limit` is lowered, and the items of one request for sequences.",
  ),
  sequenceColumnsLengthMax: limit(262_144, "characters", "All columns of one sequence, as JSON."),
  sequenceColumnsMax: limit(200, "columns", "Columns of one sequence; more are refused."),
  sequenceRowsPerWriteMax: limit(10_000, "rows", "Rows of a sequence in one request; more are refused."),
  sequenceRowsPerReadMax: limit(
    10_000,
    "rows",
    "Rows of a sequence in one answer; a larger `limit` is lowered.",
  ),
  sequenceRowsPerReadDefault: limit(100, "rows", "Rows of a sequence in an answer when `limit` is absent."),
  sequenceRowLengthMax: limit(16_384, "characters", "All values of one row of a sequence, as JSON."),
  labelsMax: limit(100, "labels", "Labels of one record."),
  fileNameLengthMax: limit(256, "characters", "The name of a file."),
  directoryLengthMax: limit(512, "characters", "The directory of a file."),
  fileSourceLengthMax: limit(128, "characters", "The source and the source id of a file."),
  fileTypeLengthMax: limit(64, "characters", "The type of a file."),
  fileLinksMax: limit(1_000, "items", "Assets that one file hangs on, and its tags."),
  fileBytesMax: limit(2 ** 40, "bytes", "The size of one file; larger is refused with 413."),
  uploadLinkMs: limit(30_000, "ms", "How long the link of a non-resumable upload takes a file."),
  resumableLinkMs: limit(7 * 24 * 3_600_000, "ms", "How long the link of a resumable upload takes bytes."),
  downloadLinkMs: limit(5 * 60_000, "ms", "How long a download link gives a file."),
  uploadSweepMs: limit(60_000, "ms", "How often what expired uploads have left is taken away."),
  diskFreeBytesMin: limit(64 * 2 ** 20, "bytes", "Free disk below which only reads and deletes go on."),
  diskFreePercentMin: limit(5, "%", "The same on a small disk, of its size; the smaller figure counts."),
  diskReserveBytes: limit(8 * 2 ** 20, "bytes", "A file that makes room for deletes on a full disk."),
  diskReservePercent: limit(4, "%", "The same on a small disk, of its size; the smaller figure counts."),
  diskFilesMin: limit(100, "files", "Files that the disk must be able to take, or it counts as full."),
  diskLookMs: limit(1_000, "ms", "How often the free disk is read; during an upload more often."),
  uploadFreeBytesMin: limit(
    2 ** 30,
    "bytes",
    "Free disk below which no bytes of files are taken: files must not crowd out everything else.",
  ),
  uploadFreePercentMin: limit(10, "%", "The same on a small disk, of its size; the smaller figure counts."),
  uploadBytesPerLook: limit(8 * 2 ** 20, "bytes", "Bytes of an upload between two looks at the free disk."),
  refusedBytesReadMax: limit(
    64 * 2 ** 20,
    "bytes",
    "Bytes of a file that are read after their refusal, so that the client gets to see it.",
  ),
  unfinishedUploadsPercentMax: limit(
    50,
    "%",
    "Of the disk that would be free without them, what unfinished uploads may hold together.",
  ),
  refusalShownMs: limit(10_000, "ms", "How long `/health` tells of a write that the disk refused."),
  retryAfterSeconds: limit(10, "s", "`Retry-After` of a 503 that has no better figure."),
  uploadMsMax: limit(24 * 3_600_000, "ms", "The time one request may take to send the bytes of a file."),
  uploadIdleMsMax: limit(
    120_000,
    "ms",
    "A file transfer in which nothing moves for this long is broken off.",
  ),
  securityCategoriesMax: limit(1_000, "ids", "Security categories of one time series."),
  erasuresAtOnce: limit(100, "series", "Deleted series whose datapoints are taken away at the same time."),
  seriesKeysCachedMax: limit(
    200_000,
    "keys",
    "Names and ids of a project's series that stay in memory (about 50 MB); others cost a catalog read.",
  ),
  projectsCachedMax: limit(1_000, "projects", "Projects whose series stay in memory."),
  scopesCachedMax: limit(10_000, "scopes", "Scopes of callers that have an id in the cache of a project."),
  writePlansMax: limit(
    64,
    "plans",
    "Lists of series in repeated inserts that stay resolved; a list costs up to 2 MB.",
  ),
  writePlanSeriesMax: limit(
    10_000,
    "series",
    "Series of one write plan; longer lists are resolved each time.",
  ),
  rawKeyLengthMax: limit(1_024, "characters", "The key of a raw row."),
  rawColumnsLengthMax: limit(2 ** 20, "characters", "The columns of one raw row, as JSON."),
  rawCsvLineBytesMax: limit(
    4 * 2 ** 20,
    "bytes",
    "A line of a CSV upload of raw rows; a longer one is refused. The columns of a row fit into it.",
  ),
  rawCsvColumnsMax: limit(100_000, "columns", "Columns of a CSV upload of raw rows; more are refused."),
  rawRowsMax: limit(
    10_000,
    "rows",
    "Raw rows of one CSV upload, and of a page; a larger `limit` is lowered to this.",
  ),
  rawNamesMax: limit(1_000, "items", "A page of raw databases or tables; a larger `limit` is lowered."),
  rawItemsDefault: limit(25, "items", "A page of raw databases, tables or rows when `limit` is absent."),
  rowsErasedAtOnceMax: limit(
    10_000,
    "rows",
    "Rows of deleted raw tables and sequences that are taken away together.",
  ),
  erasureSliceMs: limit(25, "ms", "The time that taking some of such rows away should hold up other writes."),
  insertScanBytesMax: limit(
    6 * 2 ** 20,
    "bytes",
    "JSON of an insert that is read in one go, without a turn for others; longer is read in steps.",
  ),
  pointsPerWriteMax: limit(100_000, "points", "Datapoints in one insert, over all of its series."),
  pointsPerReadMax: limit(
    100_000,
    "points",
    "Raw datapoints of one series in one read; a larger `limit` is lowered.",
  ),
  bucketsPerReadMax: limit(
    10_000,
    "buckets",
    "Aggregates of one series in one read; a larger `limit` is lowered.",
  ),
  pointsPerReadDefault: limit(100, "points", "Datapoints, aggregates or frame rows when `limit` is absent."),
  datapointsHeldBytesMax: limit(
    6 * 2 ** 20,
    "bytes",
    "100,000 points as JSON; a longer response reads twice.",
  ),
  frameRowsMax: limit(100_000, "rows", "Rows of a data frame; a larger `limit` is lowered."),
  frameColumnsMax: limit(1_000, "columns", "Columns of a data frame; more are refused."),
  seriesPerReadMax: limit(100, "series", "Items of one multi-series query or data frame."),
  functionLengthMax: limit(4_096, "characters", "The text of a calculated series; longer is refused."),
  functionDepthMax: limit(
    64,
    "levels",
    "Brackets, functions and signs inside each other in a calculated series.",
  ),
  functionLeavesMax: limit(
    100,
    "series",
    "Different series and aggregates in one calculated series, and its aliases.",
  ),
  searchWindowMax: limit(5_000, "samples", "The window of a pattern search; a longer one is refused."),
  searchColumnsMax: limit(10, "columns", "Aggregates of series that a pattern search compares together."),
  searchMatchesMax: limit(100, "matches", "Of a pattern search; a larger `limit` is lowered."),
  searchMatchesDefault: limit(10, "matches", "Of a pattern search when `limit` is absent."),
  searchSamplesMax: limit(100_000_000, "samples", "Those of all columns that a search compares."),
  similarityTagsMax: limit(10, "tags", "Input tags and query tags of a similarity search, each."),
  jobsRunningMax: limit(20, "jobs", "Unfinished analytics jobs of one caller; more get 429."),
  jobsKeptMax: limit(100, "jobs", "Ended analytics jobs of one caller; the oldest goes first."),
  jobKeptMs: limit(7 * 24 * 3_600_000, "ms", "How long an analytics job and its result can be read."),
  jobMsMax: limit(3_600_000, "ms", "The time that an analytics job may take, its wait included."),
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
  modelPackageBytesMax: limit(256 * 2 ** 20, "bytes", "A source package, packed as well as unpacked."),
  modelPackageFilesMax: limit(10_000, "files", "Files and folders of a source package."),
  modelArtifactsMax: limit(1_000, "files", "Artifacts of one version of a model."),
  modelRunsAtOnce: limit(2, "runs", "Predictions and deployments at the same time; others wait."),
  modelTrainingsAtOnce: limit(1, "runs", "Trainings at the same time; others wait."),
  modelRunMsMax: limit(
    60_000,
    "ms",
    "The time, and of each thread's processor, of a prediction; then it ends.",
  ),
  modelTrainMsMax: limit(3_600_000, "ms", "As `modelRunMsMax`, of a training."),
  modelMemoryBytesMax: limit(2 * 2 ** 30, "bytes", "Address space of a model's process."),
  modelFileBytesMax: limit(512 * 2 ** 20, "bytes", "A file that the code of a model writes or an artifact."),
  modelDiskBytesMax: limit(
    2 ** 30,
    "bytes",
    "The working folder of a model's process: code, artifacts and temporary files. It is in memory.",
  ),
  modelSharedMemoryBytesMax: limit(64 * 2 ** 20, "bytes", "Shared memory of a model's processes."),
  modelProcessesMax: limit(
    128,
    "threads",
    "Processes and threads that a model's process has, as numeric libraries start some for each processor.",
  ),
  modelArtifactNameBytesMax: limit(1_024, "bytes", "The name of an artifact, with its folders."),
  modelChunkBytesMax: limit(65_536, "bytes", "A chunk of what the server and a model's process exchange."),
  modelOutputMsMax: limit(1_000, "ms", "How long the output of a model that was ended is read."),
  modelOpenFilesMax: limit(256, "files", "Files and connections that a model's process has open."),
  modelLogBytesMax: limit(256 * 2 ** 10, "bytes", "What a run of a model prints; the rest is not kept."),
  modelLogsKeptMax: limit(100, "runs", "Runs of a version whose log is kept, the latest ones."),
  modelAnswerBytesMax: limit(16 * 2 ** 20, "bytes", "The predictions of one run, as JSON."),
  modelWindowsMissedMax: limit(
    1_000,
    "windows",
    "Windows that a schedule makes up for; older ones are skipped.",
  ),
  modelRunsKeptMax: limit(1_000, "runs", "Runs of a schedule that are listed, the latest ones."),
  modelTickMs: limit(1_000, "ms", "How often schedules are looked at for windows that are due."),
  timeMsMin: limit(Date.UTC(1900, 0, 1), "ms", "The earliest time stamp of a datapoint (1900-01-01)."),
  timeMsMax: limit(Date.UTC(2100, 0, 1) - 1, "ms", "The latest time stamp of a datapoint (2099-12-31)."),
  stringValueLengthMax: limit(16_384, "characters", "A value of a string series."),
  journalGroupBytesMax: limit(
    8 * 2 ** 20,
    "bytes",
    "Requests that share one sync of the journal; more wait.",
  ),
  pointsInFlightBytesMax: limit(
    48 * 2 ** 20,
    "bytes",
    "Datapoints taken in but not yet applied by the store; further writes wait.",
  ),
  journalCheckpointBytes: limit(
    64 * 2 ** 20,
    "bytes",
    "Size of the journal at which all points are flushed to blocks.",
  ),
  journalIdleMs: limit(5_000, "ms", "Pause in writing after which all points are flushed to blocks."),
  journalIdleBytes: limit(
    256 * 2 ** 10,
    "bytes",
    "Journal that is small enough to stay while nothing is written.",
  ),
  journalBytesMax: limit(128 * 2 ** 20, "bytes", "Journal on disk; further writes wait for the checkpoint."),
  requestMsMax: limit(
    120_000,
    "ms",
    "The deadline of a request until its response begins; then it is answered 503.",
  ),
  receiveMsMax: limit(
    120_000,
    "ms",
    "The time a client may take to send a request; then it is answered 408.",
  ),
  shutdownMsMax: limit(10_000, "ms", "After SIGTERM: the time that requests under way are given to finish."),
  keyCacheMsMax: limit(500, "ms", "How long a created or revoked API key may go unnoticed by a server."),
  keyUseNotedMs: limit(60_000, "ms", "The last use of an API key is known to within this."),
  keyChainMax: limit(16, "keys", "API keys in a row, each made with the one before; more are refused."),
  keyEndMsMax: limit(8_640_000_000_000_000, "ms", "The latest end of an API key, as far as dates go."),
  groupsPerPageMax: limit(1_000, "groups", "A page of groups; a larger `limit` is lowered to this."),
  groupRightsLengthMax: limit(65_536, "characters", "Capabilities and permissions of a group, as JSON."),
  accountGroupsMax: limit(100, "groups", "Groups that one service account is in."),
  categoriesPerPageMax: limit(1_000, "categories", "A page of security categories; more is lowered."),
  categoriesListDefault: limit(25, "categories", "A page of security categories when `limit` is absent."),
  addressLengthMax: limit(
    1_024,
    "characters",
    "The address of an identity provider, or one to go to after it.",
  ),
  redirectUrlsMax: limit(100, "addresses", "Where browsers may be sent with tokens of one project."),
  audiencesMax: limit(100, "texts", "Whom tokens for one project may be for."),
  tokenLengthMax: limit(16_384, "characters", "A token; a longer one is not valid."),
  tokenGroupsMax: limit(1_000, "groups", "Groups of one token that count; later ones do not."),
  clockToleranceMs: limit(30_000, "ms", "How far the clock of an identity provider may be off."),
  providerAnswerMsMax: limit(5_000, "ms", "How long an identity provider may take to answer."),
  providerAnswerBytesMax: limit(2 ** 18, "bytes", "An answer of an identity provider."),
  providerFreshMsMax: limit(
    10 * 60_000,
    "ms",
    "How long the keys of an identity provider are used before they are asked for again.",
  ),
  providerRefetchMsMin: limit(
    10_000,
    "ms",
    "How long an identity provider is not asked again, whether it answered or not, and whatever tokens come.",
  ),
  providerStaleMsMax: limit(
    24 * 3_600_000,
    "ms",
    "How long the keys of an identity provider that does not answer are used; then its tokens get 503.",
  ),
  loginMsMax: limit(3_600_000, "ms", "How long the tokens and the cookie of a login in a browser are good."),
  loginErrandMsMax: limit(600_000, "ms", "How long a browser may stay with the provider to log in."),
  throttledNamesMax: limit(
    20_000,
    "names",
    "Addresses and credentials whose logins and failures are surely remembered; others may be forgotten.",
  ),
  packAnswersFromBytes: limit(2_048, "bytes", "Smaller answers are never packed with gzip."),
  importPointsPerRequest: limit(20_000, "points", "Datapoints that `millrace import` sends in one request."),
  importBodyBytesMax: limit(8 * 2 ** 20, "bytes", "The body of one request of `millrace import`."),
  importLineBytesMax: limit(
    16 * 2 ** 20,
    "bytes",
    "A line of a file or of an archive that `millrace import` reads; a longer one ends the import.",
  ),
  importItemsPerRequest: limit(1_000, "items", "Series that `millrace import` creates in one request."),
  importRequestsInFlight: limit(4, "requests", "Requests that `millrace import` has open at once."),
  importRetriesMax: limit(8, "retries", "Further attempts of `millrace import` after 429, 5xx or no answer."),
  importRetryWaitMsMax: limit(
    10_000,
    "ms",
    "The longest wait of `millrace import` before a further attempt.",
  ),
  importNamesShownMax: limit(10, "names", "Missing series and assets that `millrace import` names at once."),
  importRefusedShownMax: limit(
    10,
    "cells",
    "Refused cells that `millrace import` prints; its report has all.",
  ),
  odataExpressionLengthMax: limit(8_192, "characters", "A `$filter` of the entity-model interface."),
  odataExpressionPartsMax: limit(500, "parts", "Names, values and operators of a `$filter`."),
  odataExpressionDepthMax: limit(100, "levels", "Nesting of a `$filter`."),
  odataEncodedLengthMax: limit(
    262_144,
    "characters",
    "Open data of an insert that has annotations or encoded names, which are decoded in one go.",
  ),
  odataExpandDepthMax: limit(4, "levels", "Nesting of `$expand`."),
  odataExpansionsMax: limit(100, "navigations", "Expansions of one request, nested ones and `*` included."),
  odataPageMax: limit(1_000, "entities", "A page of an entity set; a link leads to the next one."),
  odataPointsPageMax: limit(10_000, "entities", "A page of datapoints or of aggregates."),
  odataRowsPageMax: limit(10_000, "rows", "A page of raw rows; one of long rows ends earlier."),
  odataPointsScannedMax: limit(
    1_000_000,
    "points",
    "Points or buckets that a filter by their values is held against for one page; the next page goes on.",
  ),
  odataSiftedMax: limit(
    100_000,
    "rows",
    "Raw or sequence rows that a filter by their data is held against for one page; the next page goes on.",
  ),
  odataSiftedCharactersMax: limit(
    200_000_000,
    "characters",
    "Characters of such rows, times the conditions of the filter, for one page; the next page goes on.",
  ),
  siftedAtOnceMax: limit(
    5_000,
    "rows",
    "Rows that are read at once to be held against a filter by their data.",
  ),
  odataPreviewMax: limit(
    1_000,
    "entities",
    "`$top` up to which a set that requires a filter is shown without one.",
  ),
  odataExpandedMax: limit(
    20_000,
    "entities",
    "Expanded entities of one answer; of further ones links lead to the rest.",
  ),
  recordsMissedFirst: limit(
    50,
    "records",
    "Records of an order, and 1/10 of a page, that may fail conditions on assets before any are gathered.",
  ),
  recordsGatheredFirst: limit(
    20_000,
    "records",
    "Records that are gathered by their assets and sorted where those of an order are not near.",
  ),
  recordsMissedMax: limit(
    5_000,
    "records",
    "Records of an order that may then fail such conditions, for a page of 100, before more are gathered.",
  ),
  recordsGatheredMax: limit(
    200_000,
    "records",
    "Records that are gathered by their assets and sorted; of more, the order is walked.",
  ),
  recordsRankedMax: limit(
    5_000,
    "records",
    "Records that are all ranked when they have the words of a search; of more, the best are looked for.",
  ),
  recordsIndexedAtOnce: limit(
    50_000,
    "records",
    "Records that are taken into a new index of the catalog between two notes of how far it is.",
  ),
  catalogReadersMax: limit(8, "transactions", "Catalog reads open at the same time; further ones wait."),
  catalogPieceLength: limit(
    2 ** 18,
    "characters",
    "Rows that the catalog's thread takes or gives in one message, so that it is read in milliseconds.",
  ),
  catalogCacheKibMax: limit(16 * 1024, "KiB", "Pages of the catalog that one connection keeps in memory."),
  catalogLogPages: limit(
    16_000,
    "pages",
    "Pages of 4 KiB in the catalog's log after which they are moved into its file.",
  ),
  catalogIdleMs: limit(3_000, "ms", "Without a change for so long, the catalog's log is emptied."),
  catalogBusyMsMax: limit(
    10_000,
    "ms",
    "How long a write waits for another process that writes the catalog.",
  ),
  preparedStatementsMax: limit(500, "statements", "Database statements kept prepared for each connection."),
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
  "the largest body is worked on whatever others hold",
);
invariant(limits.openBodyBytesMax <= limits.bodyBytesUncounted, "strangers take no memory from others");
invariant(
  limits.modelPackageBytesMax + limits.modelFileBytesMax < limits.modelDiskBytesMax,
  "the largest package and an artifact of the largest size fit into the folder of a run",
);
invariant(
  limits.pageLengthMax * 2 <= limits.responseReserveBytes,
  "the largest page fits into the memory for responses, also with two bytes a character",
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
  "every key of a raw row fits into a path below its database and table",
);
invariant(
  limits.rawColumnsLengthMax * utf8BytesPerCharacterMax < limits.rawCsvLineBytesMax,
  "the columns of a raw row fit into a line of CSV",
);
invariant(
  limits.computationsPerCaller < limits.computationsAtOnce &&
    limits.computationsLargePerCaller < limits.computationsLargeAtOnce,
  "one caller cannot take all places for computations",
);
invariant(limits.rawRowsMax <= limits.itemsPerWriteMax, "rows in CSV are no more than rows in JSON");
invariant(
  limits.importPointsPerRequest <= limits.pointsPerWriteMax,
  "the server takes what the importer sends",
);
invariant(limits.importBodyBytesMax <= limits.bulkBodyBytesMax, "the server takes what the importer sends");
invariant(
  limits.importItemsPerRequest <= limits.itemsPerWriteMax,
  "the server takes what the importer sends",
);
invariant(
  limits.journalCheckpointBytes < limits.journalBytesMax,
  "a checkpoint begins before writes must wait",
);
invariant(
  limits.journalGroupBytesMax <= limits.pointsInFlightBytesMax,
  "a full group of writes can be in flight",
);
