// The rights of a group as a table: types of records by reading and changing, each with a scope.
import { Badge, Button, Checkbox, Group, Modal, NativeSelect, Stack, Text } from "@mantine/core";
import { Fragment, useState } from "react";
import { AssetPicker, usePickedNames } from "../../ui/asset-picker.tsx";
import { useReturnedFocus } from "../../ui/focus.ts";
import classes from "./access.module.css";
import { useCategories } from "./data.ts";
import {
  emptyRow,
  type ResourceType,
  type Rights,
  type RightsRow,
  readingAllData,
  resourceTypes,
  type ScopeChoice,
  type ScopeKind,
} from "./rights.ts";

const scopeLabels: Readonly<Record<ScopeKind, string>> = {
  none: "No",
  all: "Everything",
  subtrees: "Subtrees of assets…",
  own: "Only its own",
  categories: "Some categories…",
};

interface RightsMatrixProps {
  readonly rights: Rights;
  onChange(rights: Rights): void;
}

export function RightsMatrix({ rights, onChange }: RightsMatrixProps) {
  return (
    <table className={classes["matrix"]} aria-label="Rights">
      <thead>
        <tr>
          <th scope="col">May members of this group…</th>
          <th scope="col">read?</th>
          <th scope="col">change?</th>
        </tr>
      </thead>
      {(["Data", "Administration"] as const).map((section) => (
        <tbody key={section}>
          <tr className={classes["section"]}>
            <th colSpan={3} scope="rowgroup">
              {section}
              {section === "Data" && (
                <Button
                  size="compact-xs"
                  variant="default"
                  ml="xs"
                  onClick={() => onChange(readingAllData(rights))}
                >
                  Read all data
                </Button>
              )}
            </th>
          </tr>
          {resourceTypes
            .filter((resource) => resource.section === section)
            .map((resource) => (
              <MatrixRow
                key={resource.type}
                resource={resource}
                row={rights[resource.type] ?? emptyRow}
                onChange={(row) => onChange({ ...rights, [resource.type]: row })}
              />
            ))}
        </tbody>
      ))}
    </table>
  );
}

interface MatrixRowProps {
  readonly resource: ResourceType;
  readonly row: RightsRow;
  onChange(row: RightsRow): void;
}

function MatrixRow({ resource, row, onChange }: MatrixRowProps) {
  if (row.kept.length > 0) return <KeptRow {...{ resource, row, onChange }} />;
  return (
    <tr>
      <th scope="row">{resource.label}</th>
      <td>
        <Cell
          verb="read"
          resource={resource}
          choice={row.read}
          onChange={(read) => onChange({ ...row, read })}
        />
      </td>
      <td>
        {resource.write.length > 0 && (
          <Cell
            verb="change"
            resource={resource}
            choice={row.write}
            onChange={(write) => onChange({ ...row, write })}
          />
        )}
      </td>
    </tr>
  );
}

/** Capabilities that are finer than the table: shown as they are, until the administrator replaces them. */
function KeptRow({ resource, row, onChange }: MatrixRowProps) {
  return (
    <tr>
      <th scope="row">{resource.label}</th>
      <td colSpan={2}>
        <Group gap="xs" justify="space-between">
          <Text size="sm">
            {row.kept.map(({ actions, scope }) => (
              <Fragment key={JSON.stringify([actions, scope])}>
                {actions.join(", ")} of {JSON.stringify(scope)}
                <br />
              </Fragment>
            ))}
          </Text>
          <Button size="compact-xs" variant="default" onClick={() => onChange(emptyRow)}>
            Replace
          </Button>
        </Group>
      </td>
    </tr>
  );
}

interface CellProps {
  readonly verb: "read" | "change";
  readonly resource: ResourceType;
  readonly choice: ScopeChoice;
  onChange(choice: ScopeChoice): void;
}

function Cell({ verb, resource, choice, onChange }: CellProps) {
  const [isPicking, setIsPicking] = useState(false);
  const needsPick = (kind: ScopeKind) => kind === "subtrees" || kind === "categories";
  const change = (kind: ScopeKind) => {
    onChange({ kind, ids: [] });
    setIsPicking(needsPick(kind));
  };
  return (
    <>
      <span className={classes["only-narrow"]} aria-hidden>
        {verb}
      </span>
      <NativeSelect
        aria-label={`${resource.label}: ${verb}`}
        size="xs"
        data={(["none", ...resource.scopes] as const).map((value) => ({ value, label: scopeLabels[value] }))}
        value={choice.kind}
        onChange={(event) => change(event.currentTarget.value as ScopeKind)}
      />
      {needsPick(choice.kind) && (
        <div className={classes["names"]}>
          <ScopeNames choice={choice} />
          <Button size="compact-xs" variant="default" onClick={() => setIsPicking(true)}>
            Pick…
          </Button>
        </div>
      )}
      {isPicking && (
        <ScopePicker
          title={`${resource.label}: ${verb}`}
          choice={choice}
          onChange={onChange}
          onClose={() => setIsPicking(false)}
        />
      )}
    </>
  );
}

function ScopeNames({ choice: { kind, ids } }: { choice: ScopeChoice }) {
  const assetNameOf = usePickedNames(kind === "subtrees" ? ids : []);
  const categories = useCategories().data ?? [];
  const nameOf = (id: string) =>
    kind === "subtrees" ? assetNameOf(id) : (categories.find((one) => String(one.id) === id)?.name ?? id);
  return ids.map((id) => (
    <Badge key={id} variant="default" tt="none">
      {nameOf(id)}
    </Badge>
  ));
}

interface ScopePickerProps {
  readonly title: string;
  readonly choice: ScopeChoice;
  onChange(choice: ScopeChoice): void;
  onClose(): void;
}

function ScopePicker({ title, choice, onChange, onClose }: ScopePickerProps) {
  useReturnedFocus();
  const change = (ids: readonly string[]) => onChange({ ...choice, ids });
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ "aria-label": "Close" }}>
      <Stack>
        {choice.kind === "subtrees" ? (
          <AssetPicker picked={choice.ids} onChange={change} />
        ) : (
          <CategoryPicker picked={choice.ids} onChange={change} />
        )}
        <Button onClick={onClose}>Done</Button>
      </Stack>
    </Modal>
  );
}

function CategoryPicker(props: { picked: readonly string[]; onChange(ids: string[]): void }) {
  const categories = useCategories().data ?? [];
  if (categories.length === 0) return <Text size="sm">The project has no security categories.</Text>;
  return (
    <Checkbox.Group label="Security categories" value={[...props.picked]} onChange={props.onChange}>
      <Stack gap="xs" mt="xs">
        {categories.map(({ id, name }) => (
          <Checkbox key={id} value={String(id)} label={name} />
        ))}
      </Stack>
    </Checkbox.Group>
  );
}
