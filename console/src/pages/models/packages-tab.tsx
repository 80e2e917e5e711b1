// Source packages of models: the list, uploads, downloads, and the steps that end a package.
import { useQueries, useQuery } from "@tanstack/react-query";
import { Archive, Download, Eraser, Package, Trash2 } from "lucide-react";
import {
  deleteAnalyticsModelsSourcepackagesBySourcePackageId,
  deleteAnalyticsModelsSourcepackagesBySourcePackageIdCode,
  getAnalyticsModelsSourcepackagesBySourcePackageIdCode,
  type Model,
  putAnalyticsModelsSourcepackagesBySourcePackageIdDeprecate,
  type SourcePackage,
} from "../../api/generated.ts";
import { countText, timeText } from "../../lib/format.ts";
import { mayDo } from "../../session/rights.ts";
import { useProject, useSession } from "../../session/session.ts";
import { Refusal } from "../../ui/confirm.tsx";
import { Empty, Failure, Loading } from "../../ui/page-states.tsx";
import { RecordMenu } from "../../ui/record-menu.tsx";
import { type TableColumn, VirtualTable } from "../../ui/virtual-table.tsx";
import { ConfirmStep, type FinalStep, useDialog } from "./confirm-step.tsx";
import { packagesQuery, useModelsChange, versionsQuery } from "./models-data.ts";

const columns: readonly TableColumn<SourcePackage>[] = [
  { key: "name", label: "Name", width: "minmax(100px, 2fr)", cell: ({ name }) => name },
  {
    ...{ key: "package", label: "Package", width: "minmax(80px, 1fr)", isOptional: true },
    cell: ({ packageName }) => packageName,
  },
  {
    ...{ key: "operations", label: "Can", width: "130px", isOptional: true },
    cell: ({ availableOperations }) => availableOperations.join(", ").toLowerCase(),
  },
  {
    ...{ key: "runtime", label: "Runtime", width: "80px", isOptional: true },
    cell: ({ runtimeVersion }) => runtimeVersion,
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

export function PackagesTab({ models }: { models: readonly Model[] }) {
  const packages = useQuery(packagesQuery(useProject()));
  const mayWrite = mayDo(useSession(), "modelHostingAcl", "WRITE");
  if (packages.isPending) return <Loading what="the packages" />;
  if (packages.isError) return <Failure problem={packages.error} onRetry={() => void packages.refetch()} />;
  const actions: TableColumn<SourcePackage> = {
    ...{ key: "actions", label: "Actions", isLabelHidden: true, width: "50px" },
    cell: (source) => <PackageMenu {...{ source, models, mayWrite }} />,
  };
  return (
    <VirtualTable
      label="Source packages"
      columns={[...columns, actions]}
      rows={packages.data}
      rowKey={({ id }) => id}
      rowHeight={42}
      empty={
        <Empty title="There are no source packages yet" icon={<Package size={28} aria-hidden />}>
          A source package is a tar.gz file, as “python3 setup.py sdist” makes it.
        </Empty>
      }
    />
  );
}

interface PackageMenuProps {
  readonly source: SourcePackage;
  readonly models: readonly Model[];
  readonly mayWrite: boolean;
}

function PackageMenu({ source, models, mayWrite }: PackageMenuProps) {
  const project = useProject();
  const { dialog, open, close } = useDialog<"deprecate" | "code" | "delete">();
  const { id, isUploaded, isDeprecated } = source;
  const download = useModelsChange(async () => {
    const link = await getAnalyticsModelsSourcepackagesBySourcePackageIdCode(project, id);
    window.location.assign(link.downloadUrl);
  });
  const all = [
    isUploaded && {
      label: "Download the archive",
      icon: Download,
      run: () => download.mutate(),
    },
    mayWrite && !isDeprecated && { label: "Deprecate…", icon: Archive, run: () => open("deprecate") },
    mayWrite && isUploaded && { label: "Delete the archive…", icon: Eraser, run: () => open("code") },
    mayWrite && { label: "Delete…", icon: Trash2, isDanger: true, run: () => open("delete") },
  ];
  const actions = all.filter((one) => one !== false);
  if (actions.length === 0) return null;
  return (
    <>
      <RecordMenu label={`Actions of the package ${source.name}`} actions={actions} />
      <Refusal problem={download.error} />
      {dialog && <PackageStep key={dialog} {...{ source, models, dialog }} onClose={close} />}
    </>
  );
}

interface PackageStepProps {
  readonly source: SourcePackage;
  readonly models: readonly Model[];
  readonly dialog: "deprecate" | "code" | "delete";
  onClose(): void;
}

function PackageStep({ source: { id, name }, models, dialog, onClose }: PackageStepProps) {
  const project = useProject();
  const used = useVersionCount(models, id);
  const affected =
    used === undefined
      ? "Its versions are being counted…"
      : `${countText(used)} ${used === 1 ? "version uses" : "versions use"} it; they cannot run any more.`;
  const steps: Record<typeof dialog, FinalStep> = {
    deprecate: {
      title: `Deprecate the package ${name}?`,
      action: "Deprecate the package",
      effect: "The package is marked as deprecated for everybody. Its versions still predict.",
      run: () => putAnalyticsModelsSourcepackagesBySourcePackageIdDeprecate(project, id, {}),
    },
    code: {
      title: `Delete the archive of ${name}?`,
      action: "Delete the archive",
      effect: `The archive is deleted, its record stays. ${affected}`,
      run: () => deleteAnalyticsModelsSourcepackagesBySourcePackageIdCode(project, id),
    },
    delete: {
      title: `Delete the package ${name}?`,
      action: "Delete the package",
      effect: `The package and its archive are deleted. ${affected}`,
      run: () => deleteAnalyticsModelsSourcepackagesBySourcePackageId(project, id),
    },
  };
  return <ConfirmStep step={steps[dialog]} onClose={onClose} />;
}

/** How many versions of all models use the package; undefined until all are read. */
function useVersionCount(models: readonly Model[], sourceId: number): number | undefined {
  const project = useProject();
  const versions = useQueries({ queries: models.map((model) => versionsQuery(project, model.id)) });
  if (versions.some(({ data }) => data === undefined)) return undefined;
  return versions
    .flatMap(({ data = [] }) => data)
    .filter(({ sourcePackageId }) => sourcePackageId === sourceId).length;
}
