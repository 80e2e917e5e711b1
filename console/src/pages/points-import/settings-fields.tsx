// The fields for how a CSV file of points is read.
import { Autocomplete, Select, SimpleGrid, TextInput } from "@mantine/core";
import { isDateFormat } from "../../../../src/import/times.ts";
import { encodings } from "../../lib/csv.ts";
import {
  ambiguousWith,
  type Opening,
  type PointsSettings,
  timeFormatOf,
  timePatterns,
} from "./points-settings.ts";

interface SettingsFieldsProps {
  readonly settings: PointsSettings;
  readonly opening: Opening | undefined;
  onChange(part: Partial<PointsSettings>): void;
}

const delimiters = [
  { value: ",", label: "Comma" },
  { value: ";", label: "Semicolon" },
  { value: "\t", label: "Tab" },
  { value: "|", label: "Vertical bar" },
];
const decimalSigns = [
  { value: "point", label: "Point: 1.5" },
  { value: "comma", label: "Comma: 1,5" },
];
const zones = ["UTC", ...Intl.supportedValuesOf("timeZone").filter((zone) => zone !== "UTC")];

export function SettingsFields({ settings, opening, onChange }: SettingsFieldsProps) {
  const { delimiter, encoding, decimalComma, missing } = settings;
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }}>
      <Select
        label="Delimiter"
        data={delimiters}
        value={delimiter}
        onChange={(value) => onChange({ delimiter: value ?? delimiter })}
        allowDeselect={false}
      />
      <Select
        label="Decimal sign"
        data={decimalSigns}
        value={decimalComma ? "comma" : "point"}
        onChange={(value) => onChange({ decimalComma: value === "comma" })}
        allowDeselect={false}
      />
      <Select
        label="Encoding"
        data={[...encodings]}
        value={encoding}
        onChange={(value) => onChange({ encoding: value ?? encoding })}
        allowDeselect={false}
      />
      <TextInput
        label="Words for no value"
        placeholder="NaN, Bad"
        value={missing}
        onChange={(event) => onChange({ missing: event.currentTarget.value })}
      />
      <TimeFields {...{ settings, opening, onChange }} />
    </SimpleGrid>
  );
}

function TimeFields({ settings, opening, onChange }: SettingsFieldsProps) {
  const { timeIndex, timeFormat, timeZone } = settings;
  const read = timeFormatOf(timeFormat);
  const isDate = "format" in read && isDateFormat(read.format);
  const times = opening?.rows.map(({ cells }) => cells[timeIndex] ?? "") ?? [];
  const other = ambiguousWith(timeFormat, times);
  return (
    <>
      <Select
        label="Time column"
        data={opening?.header.cells.map((name, index) => ({
          value: String(index),
          label: name || `column ${index + 1}`,
        }))}
        value={String(timeIndex)}
        onChange={(value) => onChange({ timeIndex: Number(value) })}
        allowDeselect={false}
      />
      <Autocomplete
        label="Time format"
        data={["iso", "s", "ms", ...timePatterns]}
        filter={({ options }) => options}
        value={timeFormat}
        onChange={(value) => onChange({ timeFormat: value })}
        error={"problem" in read ? read.problem : undefined}
        description={other === undefined ? undefined : `These dates could also be ${other}`}
        inputWrapperOrder={["label", "input", "description", "error"]}
      />
      <Select
        label="Time zone"
        description={isDate ? "Of times without an offset" : "Numbers of time have none"}
        inputWrapperOrder={["label", "input", "description", "error"]}
        data={zones}
        searchable
        disabled={!isDate}
        value={isDate ? timeZone : null}
        onChange={(value) => onChange({ timeZone: value ?? timeZone })}
        allowDeselect={false}
      />
    </>
  );
}
