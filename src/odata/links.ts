// The addresses in answers: context, entities, navigations, and links to what did not fit.
import type { RequestContext } from "../context.ts";
import type { Position } from "../query/page.ts";
import type { Row } from "./model.ts";
import { addressOf } from "./place.ts";
import { tokenFor } from "./read.ts";
import type { Expansion, Shape } from "./shape.ts";
import type { Target } from "./target.ts";

export class Links {
  readonly #ctx: RequestContext;
  readonly #target: Target;
  /** The root of the service, absolute, without a slash at its end. */
  readonly root: string;

  constructor(ctx: RequestContext, root: string, target: Target) {
    this.#ctx = ctx;
    this.#target = target;
    this.root = root;
  }

  context(fragment: string): string {
    return `${this.root}/$metadata${fragment === "" ? "" : `#${fragment}`}`;
  }

  entity(shape: Shape, row: Row): string {
    return `${this.root}/${entityAddress(shape, row)}`;
  }

  /** The request once more, from where the page ended. */
  next(token: string): string {
    const { path, query } = this.#target;
    const isOld = (option: string) => /^(\$|%24)?skiptoken=/i.test(option);
    const options = query.split("&").filter((option) => option !== "" && !isOld(option));
    return `${this.root}${path}?${[...options, `$skiptoken=${token}`].join("&")}`;
  }

  /** The rest of an expanded collection, by its own path. */
  rest(
    of: Shape,
    row: Row,
    expansion: Expansion,
    { after, given }: { after: Position; given: number },
  ): string {
    const { navigation, options, top } = expansion;
    const { aliases } = this.#target;
    const filter = options.get("$filter");
    const path = `${entityAddress(of, row)}/${navigation.name}`;
    const bound = [this.#ctx.project, decodeURIComponent(path), filter, [...aliases], top];
    const token = tokenFor(
      this.#ctx,
      bound,
      after,
      top === undefined ? Number.POSITIVE_INFINITY : top - given,
    );
    const sent = [...ownOptions(expansion), ...aliases, ["$skiptoken", token] as const];
    const query = sent.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
    return `${this.root}/${path}?${query}`;
  }
}

/** Where an entity is below the root. */
export const entityAddress = ({ set, type }: Pick<Shape, "set" | "type">, row: Row): string =>
  set.address?.(row) ?? addressOf({ address: set.name, type }, row);

/** The options of an expansion as a request by its path has them, where levels are an expansion. */
function ownOptions({ navigation, options }: Expansion): [string, string][] {
  const { $levels: levels, ...plain } = Object.fromEntries(options);
  const depth = levels === "max" ? 4 : Number(levels ?? 1);
  if (depth > 1) {
    const further = { ...plain, $levels: String(depth - 1) };
    const inner = Object.entries(further).map(([name, value]) => `${name}=${value}`);
    plain["$expand"] = [plain["$expand"], `${navigation.name}(${inner.join(";")})`].filter(Boolean).join(",");
  }
  return Object.entries(plain);
}
