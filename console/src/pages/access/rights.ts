// The rights of a group as a matrix: one row for each type of records, with the scope of reading and writing.
// Capabilities that the matrix cannot show stay as they are.
import type { Capability } from "../../api/generated.ts";

export type ScopeKind = "none" | "all" | "subtrees" | "own" | "categories";

export interface ScopeChoice {
  readonly kind: ScopeKind;
  /** Assets or security categories. */
  readonly ids: readonly string[];
}

export interface RightsRow {
  readonly read: ScopeChoice;
  readonly write: ScopeChoice;
  /** Capabilities that the two choices cannot express; they are kept until they are replaced. */
  readonly kept: readonly TypedCapability[];
}

export interface ResourceType {
  readonly type: keyof Capability;
  readonly label: string;
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly scopes: readonly ScopeKind[];
  readonly section: "Data" | "Administration";
}

interface TypedCapability {
  readonly actions: readonly string[];
  readonly scope: Readonly<Record<string, { subtreeIds?: readonly string[]; ids?: readonly string[] }>>;
}

export type Rights = Readonly<Partial<Record<keyof Capability, RightsRow>>>;

const linked = { read: ["READ"], write: ["WRITE"], scopes: ["all", "subtrees"], section: "Data" } as const;
const plain = { ...linked, scopes: ["all"] } as const;
const administration = { section: "Administration", scopes: ["all", "own"] } as const;

export const resourceTypes: readonly ResourceType[] = [
  { type: "assetsAcl", label: "Assets", ...linked },
  { type: "timeSeriesAcl", label: "Time series", ...linked },
  { type: "eventsAcl", label: "Events", ...linked },
  { type: "filesAcl", label: "Files", ...linked },
  { type: "sequencesAcl", label: "Sequences", ...linked },
  { type: "relationshipsAcl", label: "Relationships", ...plain },
  { type: "rawAcl", label: "Raw tables", ...plain, read: ["READ", "LIST"] },
  { type: "trendsAcl", label: "Saved trends", ...plain },
  { type: "suggestionsAcl", label: "Suggestions", ...plain },
  { type: "connectorsAcl", label: "Connectors", ...plain },
  { type: "transformationsAcl", label: "Transformations", ...plain },
  { type: "modelHostingAcl", label: "Models", ...plain },
  { type: "analyticsAcl", label: "Analytics jobs", ...plain, read: ["READ", "LIST"], write: ["EXECUTE"] },
  {
    ...{ type: "groupsAcl", label: "Groups", ...administration },
    ...{ read: ["LIST", "READ"], write: ["CREATE", "UPDATE", "DELETE"] },
  },
  { type: "usersAcl", label: "Accounts", ...administration, read: ["LIST"], write: ["CREATE", "DELETE"] },
  { type: "apikeysAcl", label: "API keys", ...administration, read: ["LIST"], write: ["CREATE", "DELETE"] },
  {
    ...{ type: "securityCategoriesAcl", label: "Security categories", section: "Administration" },
    ...{ read: ["MEMBEROF", "LIST"], write: ["CREATE", "DELETE"], scopes: ["all", "categories"] },
  },
  {
    ...{ type: "projectsAcl", label: "Project", section: "Administration", scopes: ["all"] },
    ...{ read: ["LIST", "READ"], write: ["CREATE", "UPDATE"] },
  },
  {
    type: "auditAcl",
    label: "Audit log",
    section: "Administration",
    scopes: ["all"],
    read: ["READ"],
    write: [],
  },
];

const none: ScopeChoice = { kind: "none", ids: [] };
export const emptyRow: RightsRow = { read: none, write: none, kept: [] };

/** Reads every type of data. Rights to change, and capabilities that are kept, stay as they are. */
export const readingAllData = (rights: Rights): Rights => ({
  ...rights,
  ...Object.fromEntries(
    resourceTypes
      .filter(({ section }) => section === "Data")
      .map(({ type }) => [type, rights[type] ?? emptyRow] as const)
      .filter(([, row]) => row.kept.length === 0)
      .map(([type, row]) => [type, { ...row, read: { kind: "all", ids: [] } }]),
  ),
});

/** The rows of the known types, and the capabilities of other types as they are. */
export function rightsOf(capabilities: readonly Capability[]): { rights: Rights; others: Capability[] } {
  const known = new Set<string>(resourceTypes.map(({ type }) => type));
  const others = capabilities.flatMap((capability) =>
    Object.entries(capability)
      .filter(([type]) => !known.has(type))
      .map(([type, value]) => ({ [type]: value }) as Capability),
  );
  const rights = Object.fromEntries(
    resourceTypes.map((resource) => [resource.type, rowOf(resource, capabilities)]),
  );
  return { rights, others };
}

/** The row, if its two choices mean exactly the capabilities; else the capabilities are kept. */
function rowOf(resource: ResourceType, capabilities: readonly Capability[]): RightsRow {
  const own = capabilities.flatMap((one) => (one[resource.type] ?? []) as TypedCapability | []);
  const choiceOf = (action: string | undefined) => {
    const found = own.find(({ actions }) => actions.includes(action!));
    return found ? choiceFrom(found.scope) : none;
  };
  const row = { read: choiceOf(resource.read[0]), write: choiceOf(resource.write[0]), kept: [] };
  const isExact = keysOf(own) === keysOf(typedOf(resource, row));
  return isExact ? row : { ...emptyRow, kept: own };
}

/** Actions with their scopes, in a form that compares. */
const keysOf = (capabilities: readonly TypedCapability[]): string =>
  [
    ...new Set(
      capabilities.flatMap(({ actions, scope }) =>
        actions.map((action) => `${action} ${JSON.stringify(choiceFrom(scope))}`),
      ),
    ),
  ]
    .sort()
    .join();

function choiceFrom(scope: TypedCapability["scope"]): ScopeChoice {
  if (scope["assetIdScope"]) return { kind: "subtrees", ids: scope["assetIdScope"].subtreeIds ?? [] };
  if (scope["idscope"]) return { kind: "categories", ids: scope["idscope"].ids ?? [] };
  return { kind: scope["currentuserscope"] ? "own" : "all", ids: [] };
}

/** The capabilities of the rights, as the API stores them; `others` are added unchanged. */
export const capabilitiesOf = (rights: Rights, others: readonly Capability[]): Capability[] => [
  ...resourceTypes.flatMap((resource) =>
    typedOf(resource, rights[resource.type] ?? emptyRow).map(
      (capability) => ({ [resource.type]: capability }) as Capability,
    ),
  ),
  ...others,
];

/** One capability if reading and writing have the same scope, else one for each. */
function typedOf({ read, write }: ResourceType, row: RightsRow): readonly TypedCapability[] {
  if (row.kept.length > 0) return row.kept;
  const isSame = JSON.stringify(row.read) === JSON.stringify(row.write);
  const parts = isSame
    ? [{ actions: [...read, ...write], choice: row.read }]
    : [
        { actions: read, choice: row.read },
        { actions: write, choice: row.write },
      ];
  return parts
    .filter(({ choice }) => choice.kind !== "none")
    .map(({ actions, choice }) => ({ actions, scope: scopeOf(choice) }));
}

function scopeOf({ kind, ids }: ScopeChoice): TypedCapability["scope"] {
  if (kind === "subtrees") return { assetIdScope: { subtreeIds: ids } };
  if (kind === "categories") return { idscope: { ids } };
  return kind === "own" ? { currentuserscope: {} } : { all: {} };
}

/** Whether a choice names no asset or category although it needs one: the API refuses or grants nothing. */
export const isIncomplete = ({ kind, ids }: ScopeChoice): boolean =>
  (kind === "subtrees" || kind === "categories") && ids.length === 0;

/** A short text of the rights: `Reads 3 types, writes none`. */
export function summaryOf(capabilities: readonly Capability[]): string {
  const { rights, others } = rightsOf(capabilities);
  const rows = Object.values(rights);
  const special = rows.filter(({ kept }) => kept.length > 0).length + others.length;
  const read = rows.filter(({ read: { kind } }) => kind !== "none").length;
  const write = rows.filter(({ write: { kind } }) => kind !== "none").length;
  if (read + write + special === 0) return "Grants nothing";
  const changeable = resourceTypes.filter((type) => type.write.length > 0).length;
  if (read === resourceTypes.length && write === changeable) return "Grants everything";
  const isLimited = rows.some((row) => [row.read, row.write].some(({ kind }) => kind === "subtrees"));
  const parts = [
    `Reads ${read || "none"} of ${resourceTypes.length} types`,
    write === 0 ? "changes nothing" : `changes ${write}`,
    ...(special > 0 ? [`${special} special`] : []),
    ...(isLimited ? ["within subtrees"] : []),
  ];
  return parts.join(", ");
}
