// The fields that assets, time series, events and files have in common, as the catalog keeps them.
import type { Column } from "../../storage/catalog.ts";

export interface CommonFields {
  /** The id that another system gave to the record; unique among the records of its type in the project. */
  readonly externalId?: string;
  readonly dataSetId?: number;
  /** Each once; absent when there is none. */
  readonly labels?: readonly string[];
  /** When the source of the record was made and last changed; milliseconds since 1970. */
  readonly sourceCreatedTime?: number;
  readonly sourceModifiedTime?: number;
}

const optional = (type: Column["type"]): Column => ({ type, optional: true });

/** The common fields of a request, where a member may also be `undefined`. */
export type CommonFieldsInput = { readonly [Name in keyof CommonFields]?: CommonFields[Name] | undefined };

/** The common fields of a record or of a request, without other members. */
export const commonFieldsOf = (given: CommonFieldsInput): CommonFields => ({
  ...(given.externalId !== undefined && { externalId: given.externalId }),
  ...(given.dataSetId !== undefined && { dataSetId: given.dataSetId }),
  ...(given.labels?.length && { labels: [...new Set(given.labels)] }),
  ...(given.sourceCreatedTime !== undefined && { sourceCreatedTime: given.sourceCreatedTime }),
  ...(given.sourceModifiedTime !== undefined && { sourceModifiedTime: given.sourceModifiedTime }),
});

/** The columns of a table whose records have the common fields; its `externalId` is a unique combination. */
export const commonColumns = {
  externalId: optional("text"),
  dataSetId: optional("integer"),
  labels: optional("json"),
  sourceCreatedTime: optional("integer"),
  sourceModifiedTime: optional("integer"),
} as const satisfies { readonly [Name in keyof Required<CommonFields>]: Column };
