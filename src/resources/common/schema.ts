// The fields that assets, time series, events and files share, and their columns in the catalog.
import type { TableColumn } from "../../storage/catalog.ts";

export interface CommonFields {
  /** The record's id in another system; unique among the records of its type in the project. */
  readonly externalId?: string;
  readonly dataSetId?: number;
  /** Without duplicates; absent if there is none. */
  readonly labels?: readonly string[];
  /** When the record's source was created and last changed, in milliseconds since 1970. */
  readonly sourceCreatedTime?: number;
  readonly sourceModifiedTime?: number;
}

const optional = (type: TableColumn["type"]): TableColumn => ({ type, optional: true });

/** The common fields of a request; members may also be `undefined`. */
export type CommonFieldsInput = { readonly [Name in keyof CommonFields]?: CommonFields[Name] | undefined };

/** Picks the common fields of a record or request. */
export const commonFieldsOf = (given: CommonFieldsInput): CommonFields => ({
  ...(given.externalId !== undefined && { externalId: given.externalId }),
  ...(given.dataSetId !== undefined && { dataSetId: given.dataSetId }),
  ...(given.labels?.length && { labels: [...new Set(given.labels)] }),
  ...(given.sourceCreatedTime !== undefined && { sourceCreatedTime: given.sourceCreatedTime }),
  ...(given.sourceModifiedTime !== undefined && { sourceModifiedTime: given.sourceModifiedTime }),
});

/** The columns of the common fields. Tables list `externalId` as a unique combination. */
export const commonColumns = {
  externalId: optional("text"),
  dataSetId: optional("integer"),
  labels: optional("json"),
  sourceCreatedTime: optional("integer"),
  sourceModifiedTime: optional("integer"),
} as const satisfies { readonly [Name in keyof Required<CommonFields>]: TableColumn };
