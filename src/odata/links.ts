// The URLs in responses: contexts, entities, navigations, and next pages.
import type { RequestContext } from "../context.ts";
import type { Position } from "../query/page.ts";
import type { EntityRecord } from "./model.ts";
import type { Expansion, Projection } from "./projection.ts";
import { skipTokenFor } from "./read.ts";
import type { RequestUrl } from "./request-url.ts";
import { pathByKey } from "./resolve-path.ts";

export class Links {
  readonly #ctx: RequestContext;
  readonly #url: RequestUrl;
  /** The absolute URL of the service, without a trailing slash. */
  readonly root: string;

  constructor(ctx: RequestContext, root: string, url: RequestUrl) {
    this.#ctx = ctx;
    this.#url = url;
    this.root = root;
  }

  context(fragment: string): string {
    return `${this.root}/$metadata${fragment === "" ? "" : `#${fragment}`}`;
  }

  entity(projection: Projection, row: EntityRecord): string {
    return `${this.root}/${entityPath(projection, row)}`;
  }

  /** The URL of the next page: the request's URL with the token. */
  next(token: string): string {
    const { path, query } = this.#url;
    const isOld = (option: string) => /^(\$|%24)?skiptoken=/i.test(option);
    const options = query.split("&").filter((option) => option !== "" && !isOld(option));
    return `${this.root}${path}?${[...options, `$skiptoken=${token}`].join("&")}`;
  }

  /** The URL of the rest of an expanded collection. */
  rest(
    of: Projection,
    row: EntityRecord,
    expansion: Expansion,
    { after, given }: { after: Position; given: number },
  ): string {
    const { navigation, options, top } = expansion;
    const { aliases } = this.#url;
    const filter = options.get("$filter");
    const path = `${entityPath(of, row)}/${navigation.name}`;
    const bound = [this.#ctx.projectId, decodeURIComponent(path), filter, [...aliases], top];
    const token = skipTokenFor(
      this.#ctx,
      bound,
      after,
      top === undefined ? Number.POSITIVE_INFINITY : top - given,
    );
    const sent = [...optionsOnOwnPath(expansion), ...aliases, ["$skiptoken", token] as const];
    const query = sent.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
    return `${this.root}/${path}?${query}`;
  }
}

/** The path of an entity, relative to the service. */
export const entityPath = ({ set, type }: Pick<Projection, "set" | "type">, row: EntityRecord): string =>
  set.entityPath?.(row) ?? pathByKey({ path: set.name, type }, row);

/** The options of an expansion as options of a request; `$levels` becomes a nested `$expand`. */
function optionsOnOwnPath({ navigation, options }: Expansion): [string, string][] {
  const { $levels: levels, ...plain } = Object.fromEntries(options);
  const depth = levels === "max" ? 4 : Number(levels ?? 1);
  if (depth > 1) {
    const further = { ...plain, $levels: String(depth - 1) };
    const inner = Object.entries(further).map(([name, value]) => `${name}=${value}`);
    plain["$expand"] = [plain["$expand"], `${navigation.name}(${inner.join(";")})`].filter(Boolean).join(",");
  }
  return Object.entries(plain);
}
