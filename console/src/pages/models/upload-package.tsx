// Uploads a source package: creates its record, then sends the archive to the link of the response.
import { Button, Checkbox, FileInput, Group, TextInput } from "@mantine/core";
import { FileUp } from "lucide-react";
import { useState } from "react";
import {
  deleteAnalyticsModelsSourcepackagesBySourcePackageId,
  postAnalyticsModelsSourcepackages,
} from "../../api/generated.ts";
import { useProject } from "../../session/session.ts";
import { EditDialog } from "../../ui/edit-dialog.tsx";
import { type DescribedFields, DescribedInputs, describedOf, newDescribed } from "./described-form.tsx";
import { useModelsChange } from "./models-data.ts";
import { TransferProgress } from "./transfer-progress.tsx";
import { useTransfer } from "./use-transfer.ts";

export function UploadPackageButton() {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button size="xs" leftSection={<FileUp size={14} aria-hidden />} onClick={() => setIsOpen(true)}>
        Upload a package
      </Button>
      {isOpen && <UploadPackage onClose={() => setIsOpen(false)} />}
    </>
  );
}

interface PackageFields {
  readonly file: File | null;
  readonly described: DescribedFields;
  readonly packageName: string;
  readonly runtimeVersion: string;
  readonly canTrain: boolean;
}

const newPackage: PackageFields = {
  ...{ file: null, described: newDescribed, packageName: "", runtimeVersion: "0.1", canTrain: true },
};

function UploadPackage({ onClose }: { onClose(): void }) {
  const project = useProject();
  const [fields, setFields] = useState(newPackage);
  const { state, send, cancel } = useTransfer();
  const { mutate, isPending, error } = useModelsChange(async () => {
    const { id, uploadUrl } = await postAnalyticsModelsSourcepackages(project, sentOf(fields));
    // A package without its archive is of no use, and the upload link is gone with this dialog.
    const remove = () => deleteAnalyticsModelsSourcepackagesBySourcePackageId(project, id);
    try {
      if (await send(uploadUrl, fields.file!)) return onClose();
    } catch (problem) {
      await remove();
      throw problem;
    }
    await remove();
  });
  const stopAndClose = () => {
    cancel();
    onClose();
  };
  return (
    <EditDialog
      title="Upload a source package"
      action="Upload"
      isComplete={fields.file !== null && fields.packageName !== ""}
      {...{ isPending, problem: error }}
      onSave={() => mutate()}
      onClose={stopAndClose}
    >
      <PackageInputs fields={fields} onChange={(part) => setFields({ ...fields, ...part })} />
      {state && <TransferProgress state={state} onCancel={cancel} />}
    </EditDialog>
  );
}

const sentOf = ({ described, packageName, runtimeVersion, canTrain }: PackageFields) => ({
  ...describedOf(described),
  ...{ packageName, runtimeVersion },
  availableOperations: canTrain ? ["TRAIN" as const, "PREDICT" as const] : ["PREDICT" as const],
});

interface PackageInputsProps {
  readonly fields: PackageFields;
  onChange(part: Partial<PackageFields>): void;
}

function PackageInputs({ fields, onChange }: PackageInputsProps) {
  const { file, described, packageName, runtimeVersion, canTrain } = fields;
  const choose = (chosen: File | null) =>
    onChange({
      file: chosen,
      ...(chosen && {
        packageName: chosen.name.replace(/-[\d.]+.*$|\.tar\.gz$|\.tgz$/, ""),
        described: { ...described, name: chosen.name },
      }),
    });
  return (
    <>
      <FileInput
        label="Archive"
        required
        placeholder="Choose a tar.gz file"
        accept=".gz,.tgz"
        leftSection={<FileUp size={15} aria-hidden />}
        value={file}
        onChange={choose}
      />
      <Group grow align="flex-start">
        <TextInput
          label="Python package"
          required
          description="The folder with model.py"
          value={packageName}
          onChange={(event) => onChange({ packageName: event.currentTarget.value })}
        />
        <TextInput
          label="Runtime version"
          required
          description="Stored with the package"
          value={runtimeVersion}
          onChange={(event) => onChange({ runtimeVersion: event.currentTarget.value })}
        />
      </Group>
      <Checkbox
        label="The class Model has a function train"
        checked={canTrain}
        onChange={(event) => onChange({ canTrain: event.currentTarget.checked })}
      />
      <DescribedInputs
        fields={described}
        isNew
        onChange={(part) => onChange({ described: { ...described, ...part } })}
      />
    </>
  );
}
