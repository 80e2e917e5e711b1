// The series that an item of a body names: by `name`, `tagId` or `id`.
import { Type } from "typebox";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { eitherOf } from "../../rest/two-names.ts";
import { resolveSeries, type SeriesKey } from "./timeseries.ts";

/** Names a series: by `name` (0.4: `tagId`) or by `id`. */
export const keyFields = {
  name: Type.Optional(Type.String()),
  tagId: Type.Optional(Type.String()),
  id: Type.Optional(Type.Integer()),
};

export interface KeyInput {
  readonly name?: string;
  readonly tagId?: string;
  readonly id?: number;
}

/**
 * The series that an item names. Refuses (400) an item without a name, and one with two different names. `at`
 * is the item's path: `items[0].` An item may have an id as well: `refuseOtherIds` compares it.
 */
export function seriesKey({ name, tagId, id }: KeyInput, at: string): SeriesKey {
  const key = eitherOf([`${at}name`, name], [`${at}tagId`, tagId]) ?? id;
  if (key === undefined) throw fail("fields-missing", { fields: [`${at}name`] });
  return key;
}

/** The keys of the items of a body. */
export const seriesKeys = (items: readonly KeyInput[]): readonly SeriesKey[] =>
  items.map((item, i) => seriesKey(item, `items[${i}].`));

/** Refuses (400) an item with the name of one series and the id of another. */
export async function refuseOtherIds(
  ctx: RequestContext,
  items: readonly KeyInput[],
  atOf = (index: number) => `items[${index}].`,
): Promise<void> {
  const both = items.flatMap(({ name, tagId, id }, index) => {
    const key = name ?? tagId;
    return key === undefined || id === undefined ? [] : [{ key, id, field: `${atOf(index)}id` }];
  });
  if (both.length === 0) return;
  const found = await resolveSeries(
    ctx,
    both.map(({ key }) => key),
    "READ",
  );
  for (const [index, series] of found.entries()) if (series) refuseOtherId(series, both[index]!);
}

/** An id and its path in the request. */
export interface SentId {
  readonly id: number;
  readonly field: string;
}

/** Refuses (400) an id that is not that of the series, whose name was sent with it. */
export function refuseOtherId(
  series: { readonly id: number; readonly name: string },
  { id, field }: SentId,
): void {
  const expected = `${series.id}, the id of the series named ${series.name},`;
  if (series.id !== id) throw fail("field-invalid", { field, expected, got: `${id}` });
}
