// Creates a version of a model from a source package: by training, or to be deployed with uploaded artifacts.
import { Button, SegmentedControl, Select, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import {
  type Model,
  postAnalyticsModelsByModelIdVersions,
  postAnalyticsModelsByModelIdVersionsTrain,
  type SourcePackage,
} from "../../api/generated.ts";
import { useProject } from "../../session/session.ts";
import { EditDialog } from "../../ui/edit-dialog.tsx";
import { DescribedInputs, describedOf, newDescribed } from "./described-form.tsx";
import { JsonField, jsonIn } from "./json-field.tsx";
import { packagesQuery, useModelsChange } from "./models-data.ts";

export function NewVersionButton({ model }: { model: Model }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button size="xs" leftSection={<Plus size={14} aria-hidden />} onClick={() => setIsOpen(true)}>
        New version
      </Button>
      {isOpen && <NewVersion model={model} onClose={() => setIsOpen(false)} />}
    </>
  );
}

type Way = "train" | "upload";

interface VersionFields {
  readonly sourcePackageId: number | undefined;
  readonly way: Way;
  readonly args: string;
}

function NewVersion({ model, onClose }: { model: Model; onClose(): void }) {
  const project = useProject();
  const navigate = useNavigate({ from: "/models" });
  const packages = useQuery(packagesQuery(project)).data ?? [];
  const [described, setDescribed] = useState(newDescribed);
  const [fields, setFields] = useState<VersionFields>({
    sourcePackageId: undefined,
    way: "train",
    args: "{}",
  });
  const source = packages.find(({ id }) => id === fields.sourcePackageId);
  const way = wayOf(fields, source);
  const { value: args } = jsonIn(fields.args, "object");
  const { mutate, isPending, error } = useModelsChange(async () => {
    const item = { ...describedOf(described), sourcePackageId: source!.id };
    const { id } =
      way === "train"
        ? await postAnalyticsModelsByModelIdVersionsTrain(project, model.id, {
            ...item,
            trainingDetails: { args },
          })
        : await postAnalyticsModelsByModelIdVersions(project, model.id, item);
    onClose();
    await navigate({ search: { model: model.id, modelVersion: id } });
  });
  return (
    <EditDialog
      title={`New version of ${model.name}`}
      action={way === "train" ? "Train the version" : "Create the version"}
      size="lg"
      isComplete={source !== undefined && (way === "upload" || args !== undefined)}
      {...{ isPending, problem: error, onClose }}
      onSave={() => mutate()}
    >
      <DescribedInputs
        fields={described}
        isNew
        onChange={(part) => setDescribed({ ...described, ...part })}
      />
      <SourceFields
        {...{ packages, source, way, fields }}
        onChange={(part) => setFields({ ...fields, ...part })}
      />
    </EditDialog>
  );
}

const canTrain = (source: SourcePackage | undefined): boolean =>
  source === undefined || source.availableOperations.includes("TRAIN");

const wayOf = ({ way }: VersionFields, source: SourcePackage | undefined): Way =>
  canTrain(source) ? way : "upload";

interface SourceFieldsProps {
  readonly packages: readonly SourcePackage[];
  readonly source: SourcePackage | undefined;
  readonly way: Way;
  readonly fields: VersionFields;
  onChange(part: Partial<VersionFields>): void;
}

function SourceFields({ packages, source, way, fields, onChange }: SourceFieldsProps) {
  const usable = packages.filter(({ isUploaded, isDeprecated }) => isUploaded && !isDeprecated).toReversed();
  return (
    <>
      <Select
        label="Source package"
        required
        searchable
        placeholder="Choose a package"
        nothingFoundMessage="There is no uploaded package"
        data={usable.map(({ id, name }) => ({ value: String(id), label: name }))}
        value={source ? String(source.id) : null}
        onChange={(id) => onChange({ sourcePackageId: id === null ? undefined : Number(id) })}
      />
      <SegmentedControl
        aria-label="Artifacts"
        value={way}
        onChange={(value) => onChange({ way: value as Way })}
        data={[
          { value: "train", label: "Train on the server", disabled: !canTrain(source) },
          { value: "upload", label: "Upload artifacts" },
        ]}
      />
      {way === "train" ? (
        <JsonField
          label="Arguments of the training, a JSON object"
          kind="object"
          minRows={3}
          value={fields.args}
          onChange={(args) => onChange({ args })}
        />
      ) : (
        <Text size="sm" c="var(--text-quiet)">
          The version waits until you have uploaded its artifacts, if it needs any, and deploy it.
        </Text>
      )}
    </>
  );
}
