// Reads `$select` and `$expand` into a projection: the properties and expansions of each entity in a
// response.
import { fail } from "../errors.ts";
import { limits } from "../limits.ts";
import { everything, type Filter } from "../query/filter.ts";
import { parseFilter, type QueryContext } from "./filter.ts";
import type { EntityModel, EntitySet, EntityType, Navigation, Property } from "./model.ts";
import { decodeName } from "./names.ts";
import { checkDepth, type ExpandItem, readExpand, readSelect, type SelectedPath } from "./select-expand.ts";

export interface Projection {
  readonly set: EntitySet;
  readonly type: EntityType;
  /** In the order of the model. */
  readonly properties: readonly Property[];
  /** The selected members of open objects; an absent entry selects all members. */
  readonly members: ReadonlyMap<string, ReadonlySet<string>>;
  readonly expansions: readonly Expansion[];
  /** The projection in context URLs: `(Id,Parent(Id,Name))`, or empty. */
  readonly contextFragment: string;
}

/** The properties and navigations that records are read for. `by` is the navigation that led to them. */
export const neededNames = ({ properties, expansions }: Projection, by?: Navigation): ReadonlySet<string> =>
  new Set([
    ...properties.map(({ name }) => name),
    ...expansions.map(({ navigation }) => navigation.name),
    ...[by?.partner, by?.joinProperty].filter((name) => name !== undefined),
  ]);

export interface Expansion {
  readonly navigation: Navigation;
  readonly projection: Projection;
  readonly filter: Filter;
  readonly top: number | undefined;
  readonly isCounted: boolean;
  /** As sent, for links to the rest of the collection. */
  readonly options: ReadonlyMap<string, string>;
}

type Options = ReadonlyMap<string, string>;

/** The projection of a request for entities of the set. Refuses more expansions than the limit. */
export function readProjection(context: QueryContext, set: EntitySet, options: Options): Projection {
  const expand = options.get("$expand");
  const expanded = expand === undefined ? [] : readExpand(expand);
  const projection = projectionAt(context, set, { options, expanded, depth: 1 });
  if (expansionsIn(projection) > limits.odataExpansionsMax) {
    const problem = `it names more than ${limits.odataExpansionsMax} navigations`;
    throw fail("query-option-invalid", { option: "$expand", problem });
  }
  return projection;
}

const expansionsIn = ({ expansions }: Projection): number =>
  expansions.reduce((sum, { projection }) => sum + 1 + expansionsIn(projection), 0);

interface Nesting {
  readonly options: Options;
  readonly expanded: readonly ExpandItem[];
  readonly depth: number;
}

function projectionAt(
  context: QueryContext,
  set: EntitySet,
  { options, expanded, depth }: Nesting,
): Projection {
  const type = context.model.typeOf(set);
  const select = options.get("$select");
  const selected = select === undefined ? undefined : readSelect(select);
  if (expanded.length > 0) checkDepth(depth);
  const always = autoExpandedOf(context.model, type, { expanded, selected });
  const expansions = [...always, ...expanded].flatMap((one) => expansionsOf(context, set, one, depth));
  const names = expansions.map(({ navigation }) => navigation.name);
  const twice = names.find((name, at) => names.indexOf(name) < at);
  if (twice) throw fail("query-option-invalid", { option: "$expand", problem: `it names ${twice} twice` });
  const { properties, members } = propertiesOf(type, selected);
  const fragment = fragmentOf(selected && selectedNames(context.model, type, selected), expansions);
  return { set, type, properties, members, expansions, contextFragment: fragment };
}

/**
 * Navigations that are always expanded, unless the request expands them itself or does not select them.
 */
function autoExpandedOf(
  model: EntityModel,
  type: EntityType,
  request: {
    readonly expanded: readonly ExpandItem[];
    readonly selected: readonly SelectedPath[] | undefined;
  },
): ExpandItem[] {
  const { expanded, selected = [["*"]] } = request;
  const names = [...model.navigationsOf(type).values()]
    .filter((one) => one.isAutoExpanded)
    .map(({ name }) => name);
  const isSelected = (name: string) => selected.some(([first]) => first === name || first === "*");
  const isExpanded = (name: string) => expanded.some((one) => one.name === name || one.name === "*");
  return names
    .filter((name) => isSelected(name) && !isExpanded(name))
    .map((name) => ({ name, options: new Map() }));
}

function propertiesOf(type: EntityType, selected: readonly SelectedPath[] | undefined) {
  const members = new Map<string, Set<string>>();
  const whole = new Set<string>();
  for (const [name, ...rest] of selected ?? []) {
    if (rest.length === 0) whole.add(name!);
    else members.set(name!, (members.get(name!) ?? new Set()).add(decodeName(rest.join("/"))));
  }
  for (const name of whole) members.delete(name);
  const isAll = selected === undefined || whole.has("*");
  const properties = type.properties.filter(({ name }) => isAll || whole.has(name) || members.has(name));
  return { properties, members: isAll ? new Map<string, Set<string>>() : members };
}

/** The selected properties in the order of the model, then selected names that the model does not have. */
function selectedNames(model: EntityModel, type: EntityType, selected: readonly SelectedPath[]): string[] {
  const navigations = model.navigationsOf(type);
  const all = new Set(selected.map((path) => path.join("/")));
  const names = [...all].filter((name) => !navigations.has(name));
  const indexOf = (name: string) => type.properties.findIndex((one) => one.name === name.split("/", 1)[0]);
  const known = names.filter((name) => indexOf(name) >= 0).sort((a, b) => indexOf(a) - indexOf(b));
  return [...known, ...names.filter((name) => indexOf(name) < 0)];
}

/** OData 4.0 does not list expansions without nested options. */
function fragmentOf(selected: readonly string[] | undefined, expansions: readonly Expansion[]): string {
  const nested = expansions.filter(({ projection }) => projection.contextFragment !== "");
  const parts = [
    ...(selected ?? []),
    ...nested.map(({ navigation, projection }) => `${navigation.name}${projection.contextFragment}`),
  ];
  return parts.length === 0 ? "" : `(${parts.join(",")})`;
}

function expansionsOf(
  context: QueryContext,
  set: EntitySet,
  expanded: ExpandItem,
  depth: number,
): Expansion[] {
  const navigations = context.model.navigationsOf(context.model.typeOf(set));
  if (expanded.name !== "*") {
    const navigation = navigations.get(expanded.name);
    if (!navigation)
      throw fail("query-option-invalid", {
        option: "$expand",
        problem: `${set.name} has no navigation ${expanded.name}`,
      });
    if (navigation.isPathOnly) throw fail("not-expandable", { navigation: navigation.name, set: set.name });
    return [expansionOf(context, navigation, expanded, depth)];
  }
  const all = [...navigations.values()].filter((one) => !one.isPathOnly && !one.isExcludedFromWildcard);
  return all.map((navigation) => expansionOf(context, navigation, expanded, depth));
}

function expansionOf(
  context: QueryContext,
  navigation: Navigation,
  { options, name }: ExpandItem,
  depth: number,
): Expansion {
  const set = context.model.sets.get(navigation.to)!;
  for (const option of ["$orderby", "$search", "$compute", "$apply"])
    if (options.has(option)) throw fail("query-option-not-supported", { option: `${option} within $expand` });
  refuseSkip(options.get("$skip"));
  const inner = options.get("$expand");
  const expanded = [
    ...(inner === undefined ? [] : readExpand(inner)),
    ...furtherLevels(navigation, name, options),
  ];
  const projection = projectionAt(context, set, { options, expanded, depth: depth + 1 });
  const text = options.get("$filter");
  const filter = text === undefined ? everything : parseFilter(context, set, text);
  const top = readTop(options.get("$top"));
  return {
    navigation,
    projection: projection,
    filter,
    top,
    isCounted: readFlag("$count", options.get("$count")),
    options,
  };
}

/** `$levels=2` repeats the expansion once inside itself. */
function furtherLevels(navigation: Navigation, name: string, options: Options): ExpandItem[] {
  const sent = options.get("$levels");
  if (sent === undefined) return [];
  if (!navigation.isRecursive)
    throw fail("query-option-not-supported", { option: `$levels of ${navigation.name}` });
  const levels = sent === "max" ? 4 : Number(sent);
  checkDepth(levels);
  if (levels === 1) return [];
  return [
    {
      name: name === "*" ? navigation.name : name,
      options: new Map([...options, ["$levels", String(levels - 1)]]),
    },
  ];
}

export function readTop(sent: string | undefined): number | undefined {
  if (sent === undefined) return undefined;
  if (!/^\d{1,15}$/.test(sent))
    throw fail("query-option-invalid", { option: "$top", problem: "expected a whole number from 0" });
  return Number(sent);
}

export function readFlag(option: string, sent: string | undefined): boolean {
  if (sent !== undefined && !/^(true|false)$/i.test(sent))
    throw fail("query-option-invalid", { option, problem: "expected true or false" });
  return sent?.toLowerCase() === "true";
}

/** OpenUI5 sends `$skip=0`; greater values are not supported (docs/reference/odata.md#order-of-checks). */
export function refuseSkip(sent: string | undefined): void {
  if (sent === undefined || sent === "0") return;
  if (!/^\d+$/.test(sent))
    throw fail("query-option-invalid", { option: "$skip", problem: "expected a whole number from 0" });
  throw fail("query-option-not-supported", { option: "$skip above 0" });
}
