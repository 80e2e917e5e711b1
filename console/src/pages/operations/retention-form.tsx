// The form of a new retention rule, and of the name and days of one. It is saved after its effect is counted.
import { NativeSelect, NumberInput, Text, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { postRetentionrules, postRetentionrulesUpdate, type RetentionRule } from "../../api/generated.ts";
import { useProject } from "../../session/session.ts";
import { AssetSelect } from "../../ui/asset-select.tsx";
import { EditDialog } from "../../ui/edit-dialog.tsx";
import { SeriesSelect } from "../../ui/series-select.tsx";
import { isCounted, RemovalPreview, useRemovalCount } from "./removal-count.tsx";
import { type RuleTarget, useRulesChange } from "./retention-data.ts";

/** As in `src/limits/retention.ts`. */
const daysMax = 36_500;
const nameMax = 255;

type TargetKind = "series" | "asset" | "project";

interface Fields {
  readonly name: string;
  readonly kind: TargetKind;
  readonly seriesId: number | undefined;
  readonly assetId: number | undefined;
  readonly keepDays: number | undefined;
}

const newFields: Fields = {
  ...{ name: "", kind: "asset", seriesId: undefined, assetId: undefined, keepDays: undefined },
};

function targetOf({ kind, seriesId, assetId }: Fields): RuleTarget | undefined {
  if (kind === "project") return { wholeProject: true };
  if (kind === "series") return seriesId === undefined ? undefined : { seriesId };
  return assetId === undefined ? undefined : { assetId };
}

export function NewRule({ onClose }: { onClose(): void }) {
  const project = useProject();
  const [fields, setFields] = useState(newFields);
  const change = (part: Partial<Fields>) => setFields((now) => ({ ...now, ...part }));
  const { counting, start } = useRemovalCount();
  const target = targetOf(fields);
  const { keepDays } = fields;
  const rule = target && keepDays !== undefined ? { ...target, keepDays } : undefined;
  const name = fields.name.trim();
  const { mutate, isPending, error } = useRulesChange(async () => {
    await postRetentionrules(project, { items: [{ name, ...rule! }] });
    onClose();
  });
  return (
    <EditDialog
      title="New retention rule"
      action="Create the rule"
      size="lg"
      isComplete={name !== "" && isCounted(counting, rule)}
      {...{ isPending, problem: error, onClose }}
      onSave={() => mutate()}
    >
      <Name name={fields.name} onChange={(value) => change({ name: value })} />
      <Target fields={fields} onChange={change} />
      <Days days={keepDays} onChange={(value) => change({ keepDays: value })} />
      <Text size="sm" c="var(--text-quiet)">
        It removes nothing in its first day, so a mistake can be corrected. If several rules fit a series, the
        most specific one counts alone.
      </Text>
      <RemovalPreview
        {...{ rule, counting }}
        hint="Removes nothing. The rule can be created after the count."
        onCount={(counted) => void start(counted)}
      />
    </EditDialog>
  );
}

interface EditRuleProps {
  readonly rule: RetentionRule;
  readonly target: ReactNode;
  onClose(): void;
}

export function EditRule({ rule: { id, ...before }, target: series, onClose }: EditRuleProps) {
  const project = useProject();
  const [name, setName] = useState(before.name);
  const [keepDays, setKeepDays] = useState<number | undefined>(before.keepDays);
  const { counting, start } = useRemovalCount();
  const { seriesId, assetId, wholeProject } = before;
  const target: RuleTarget = {
    ...(seriesId !== undefined && { seriesId }),
    ...(assetId !== undefined && { assetId }),
    ...(wholeProject && { wholeProject }),
  };
  const rule = keepDays === undefined ? undefined : { ...target, keepDays };
  const isSame = keepDays === before.keepDays;
  const { mutate, isPending, error } = useRulesChange(async () => {
    const changed = { name: { set: name.trim() }, ...(!isSame && { keepDays: { set: keepDays! } }) };
    await postRetentionrulesUpdate(project, { items: [{ id, ...changed }] });
    onClose();
  });
  return (
    <EditDialog
      title={`Edit the retention rule ${before.name}`}
      size="lg"
      isComplete={name.trim() !== "" && (isSame || isCounted(counting, rule))}
      {...{ isPending, problem: error, onClose }}
      onSave={() => mutate()}
    >
      <Name name={name} onChange={setName} />
      <Text size="sm">Its series: {series}. For others, create another rule.</Text>
      <Days days={keepDays} onChange={setKeepDays} />
      <Text size="sm" c="var(--text-quiet)">
        With other days it removes nothing for a day.
      </Text>
      <RemovalPreview
        {...{ rule, counting }}
        hint={isSame ? "Removes nothing." : "Removes nothing. Other days can be saved after the count."}
        onCount={(counted) => void start(counted)}
      />
    </EditDialog>
  );
}

const Name = ({ name, onChange }: { name: string; onChange(name: string): void }) => (
  <TextInput
    label="Name"
    required
    maxLength={nameMax}
    data-autofocus
    value={name}
    onChange={(event) => onChange(event.currentTarget.value)}
  />
);

interface DaysProps {
  readonly days: number | undefined;
  onChange(days: number | undefined): void;
}

const Days = ({ days, onChange }: DaysProps) => (
  <NumberInput
    label="Days to keep"
    description="Points that are older are removed, in whole blocks of up to some thousand points."
    required
    min={1}
    max={daysMax}
    allowDecimal={false}
    thousandSeparator=","
    hideControls
    value={days ?? ""}
    onChange={(value) => onChange(value === "" ? undefined : Number(value))}
  />
);

const kinds = [
  { value: "asset", label: "Series of an asset and of all below it, also those to come" },
  { value: "series", label: "One series" },
  { value: "project", label: "All series, also those to come" },
];

interface TargetProps {
  readonly fields: Fields;
  onChange(part: Partial<Fields>): void;
}

const Target = ({ fields: { kind, seriesId, assetId }, onChange }: TargetProps) => (
  <>
    <NativeSelect
      label="For which series"
      data={kinds}
      value={kind}
      onChange={(event) => onChange({ kind: event.currentTarget.value as TargetKind })}
    />
    {kind === "series" && (
      <SeriesSelect label="Series" required value={seriesId} onChange={(id) => onChange({ seriesId: id })} />
    )}
    {kind === "asset" && (
      <AssetSelect
        label="Asset"
        required
        placeholder={assetId === undefined ? "Search an asset" : undefined}
        maxValues={1}
        value={assetId === undefined ? [] : [assetId]}
        onChange={([id]) => onChange({ assetId: id })}
      />
    )}
  </>
);
