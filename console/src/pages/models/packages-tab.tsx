// Source packages of models: the list, and the upload of a new one.
import { Button, FileInput, Group, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { FileUp, Package } from "lucide-react";
import { useState } from "react";
import { postAnalyticsModelsSourcepackages, type SourcePackage } from "../../api/generated.ts";
import { timeText } from "../../lib/format.ts";
import { mayDo } from "../../session/rights.ts";
import { useProject, useSession } from "../../session/session.ts";
import { Refusal } from "../../ui/confirm.tsx";
import { Empty, Failure, Loading } from "../../ui/page-states.tsx";
import { type TableColumn, VirtualTable } from "../../ui/virtual-table.tsx";
import classes from "./models.module.css";
import { packagesQuery } from "./models-data.ts";

const columns: readonly TableColumn<SourcePackage>[] = [
  { key: "name", label: "Name", width: "minmax(100px, 2fr)", cell: ({ name }) => name },
  { key: "package", label: "Package", width: "minmax(80px, 1fr)", cell: ({ packageName }) => packageName },
  {
    ...{ key: "operations", label: "Can", width: "140px", isOptional: true },
    cell: ({ availableOperations }) => availableOperations.join(", ").toLowerCase(),
  },
  {
    ...{ key: "uploaded", label: "Archive", width: "110px" },
    cell: ({ isUploaded, isDeprecated }) =>
      isDeprecated ? "deprecated" : isUploaded ? "uploaded" : "missing",
  },
  {
    ...{ key: "created", label: "Created", width: "160px", isOptional: true },
    cell: ({ createdTime }) => timeText(createdTime),
  },
];

export function PackagesTab() {
  const packages = useQuery(packagesQuery(useProject()));
  const mayWrite = mayDo(useSession(), "modelHostingAcl", "WRITE");
  if (packages.isPending) return <Loading what="the packages" />;
  if (packages.isError) return <Failure problem={packages.error} onRetry={() => void packages.refetch()} />;
  return (
    <div className={classes["withForm"]}>
      {mayWrite && <UploadForm />}
      <div>
        <VirtualTable
          label="Source packages"
          columns={columns}
          rows={packages.data}
          rowKey={({ id }) => id}
          empty={
            <Empty title="There are no source packages yet" icon={<Package size={28} aria-hidden />}>
              A source package is a tar.gz file, as “python3 setup.py sdist” makes it.
            </Empty>
          }
        />
      </div>
    </div>
  );
}

function UploadForm() {
  const project = useProject();
  const queryClient = useQueryClient();
  const [file, setFile] = useState<File | null>(null);
  const [packageName, setPackageName] = useState("");
  const upload = useMutation({
    mutationFn: () => uploadPackage(project, file!, packageName),
    onSuccess: async () => {
      setFile(null);
      await queryClient.invalidateQueries({ queryKey: ["models"] });
    },
  });
  const choose = (chosen: File | null) => {
    setFile(chosen);
    if (chosen) setPackageName(chosen.name.replace(/-[\d.]+.*$|\.tar\.gz$/, ""));
  };
  return (
    <>
      <Group align="flex-end">
        <FileInput
          label="Archive"
          placeholder="Choose a tar.gz file"
          accept=".gz,.tgz"
          leftSection={<FileUp size={15} aria-hidden />}
          value={file}
          onChange={choose}
          w={230}
        />
        <TextInput
          label="Name of the Python package"
          value={packageName}
          onChange={(event) => setPackageName(event.currentTarget.value)}
          w={210}
        />
        <Button
          disabled={file === null || packageName === ""}
          loading={upload.isPending}
          onClick={() => upload.mutate()}
        >
          Upload
        </Button>
      </Group>
      <Refusal problem={upload.error} />
    </>
  );
}

async function uploadPackage(project: string, file: File, packageName: string): Promise<void> {
  const { data } = await postAnalyticsModelsSourcepackages(project, {
    ...{ name: file.name, packageName, runtimeVersion: "0.1" },
    availableOperations: ["TRAIN", "PREDICT"],
  });
  const response = await fetch(data.uploadUrl, { method: "PUT", body: file });
  if (!response.ok) throw new Error(`The archive was refused: ${await response.text()}`);
}
