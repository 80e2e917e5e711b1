// Edits metadata: pairs of key and value in a form.
import { TextInput } from "@mantine/core";
import { FieldRows } from "./field-rows.tsx";

export interface MetadataPair {
  /** Tells the rows of the form apart. */
  readonly row: number;
  readonly key: string;
  readonly value: string;
}

export const pairsOf = (metadata: Readonly<Record<string, string>> = {}): MetadataPair[] =>
  Object.entries(metadata).map(([key, value], row) => ({ row, key, value }));

/** Pairs without a key are left out. */
export const metadataOf = (pairs: readonly MetadataPair[]): Record<string, string> =>
  Object.fromEntries(pairs.filter(({ key }) => key !== "").map(({ key, value }) => [key, value]));

interface MetadataFieldsProps {
  readonly pairs: readonly MetadataPair[];
  onChange(pairs: MetadataPair[]): void;
}

export const MetadataFields = ({ pairs, onChange }: MetadataFieldsProps) => (
  <FieldRows<MetadataPair>
    legend="Metadata"
    kind="pair"
    addLabel="Add a pair"
    rows={pairs}
    onChange={onChange}
    newRow={(row) => ({ row, key: "", value: "" })}
    renderFields={({ key, value }, change, number) => (
      <>
        <TextInput
          flex={2}
          aria-label={`Key ${number}`}
          placeholder="Key"
          value={key}
          onChange={(event) => change({ key: event.currentTarget.value })}
        />
        <TextInput
          flex={3}
          aria-label={`Value ${number}`}
          placeholder="Value"
          value={value}
          onChange={(event) => change({ value: event.currentTarget.value })}
        />
      </>
    )}
  />
);
