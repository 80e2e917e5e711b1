// Models that the server hosts, their schedules and source packages. If hosting is off, how to turn it on.
import { Alert, Code, Tabs, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Boxes, BrainCircuit } from "lucide-react";
import { messageOf, statusOf } from "../../api/errors.ts";
import type { Model } from "../../api/generated.ts";
import { countText, timeText } from "../../lib/format.ts";
import { mayDo } from "../../session/rights.ts";
import { useProject, useSession } from "../../session/session.ts";
import { CopyAs } from "../../ui/copy-as.tsx";
import { Page } from "../../ui/page.tsx";
import { Empty, Failure, Loading } from "../../ui/page-states.tsx";
import { TabList } from "../../ui/tab-list.tsx";
import { type TableColumn, VirtualTable } from "../../ui/virtual-table.tsx";
import { ModelDrawer } from "./model-drawer.tsx";
import classes from "./models.module.css";
import { modelsQuery } from "./models-data.ts";
import { NewModelButton } from "./new-model.tsx";
import { NewScheduleButton } from "./new-schedule.tsx";
import { PackagesTab } from "./packages-tab.tsx";
import { SchedulesTab } from "./schedules-tab.tsx";
import type { ModelsTab } from "./search.ts";
import { UploadPackageButton } from "./upload-package.tsx";

export function ModelsPage() {
  const { tab = "models", model: openId } = useSearch({ from: "/frame/models" });
  const navigate = useNavigate({ from: "/models" });
  const project = useProject();
  const models = useQuery(modelsQuery(project));
  const mayWrite = mayDo(useSession(), "modelHostingAcl", "WRITE");
  const open = models.data?.find(({ id }) => id === openId);
  return (
    <Page
      title="Models"
      fills
      actions={
        models.isSuccess && (
          <>
            {mayWrite && <NewRecord tab={tab} models={models.data} />}
            <CopyAs request={{ method: "GET", project, path: `/analytics/models${paths[tab]}` }} />
          </>
        )
      }
      note={
        models.data && `${countText(models.data.length)} ${models.data.length === 1 ? "model" : "models"}`
      }
    >
      {models.isPending && <Loading what="the models" />}
      {models.isError && <Unavailable problem={models.error} onRetry={() => void models.refetch()} />}
      {models.isSuccess && (
        <Tabs
          className={classes["tabs"]}
          value={tab}
          onChange={(value) =>
            void navigate({ search: { tab: value === "models" ? undefined : (value as ModelsTab) } })
          }
        >
          <TabList selected={tab} mb="sm">
            <Tabs.Tab value="models">Models</Tabs.Tab>
            <Tabs.Tab value="schedules">Schedules</Tabs.Tab>
            <Tabs.Tab value="packages">Source packages</Tabs.Tab>
          </TabList>
          <Tabs.Panel value={tab} className={classes["panel"]}>
            {tab === "models" && <ModelList models={models.data} />}
            {tab === "schedules" && <SchedulesTab models={models.data} />}
            {tab === "packages" && <PackagesTab models={models.data} />}
          </Tabs.Panel>
        </Tabs>
      )}
      {open && <ModelDrawer key={open.id} model={open} onClose={() => void navigate({ search: {} })} />}
    </Page>
  );
}

function NewRecord({ tab, models }: { tab: ModelsTab; models: readonly Model[] }) {
  if (tab === "models") return <NewModelButton />;
  return tab === "packages" ? <UploadPackageButton /> : <NewScheduleButton models={models} />;
}

/** The list of each tab in the API, below the models. */
const paths: Readonly<Record<ModelsTab, string>> = {
  models: "",
  schedules: "/schedules",
  packages: "/sourcepackages",
};

/** Each operation returns 400 with the reason while hosting is off. */
function Unavailable({ problem, onRetry }: { problem: unknown; onRetry(): void }) {
  if (statusOf(problem) !== 400) return <Failure problem={problem} onRetry={onRetry} />;
  return (
    <Alert color="blue" icon={<BrainCircuit size={20} aria-hidden />} title="This server hosts no models">
      <Text size="sm">
        A model is a Python package that the server trains, calls for predictions, and runs on a schedule.
      </Text>
      <Text size="sm" mt="xs">
        {messageOf(problem)} after a restart. It needs <Code>python3</Code>, and <Code>bubblewrap</Code> if
        the server runs as root. Read “What is isolated” in docs/models.md first.
      </Text>
    </Alert>
  );
}

const columns: readonly TableColumn<Model>[] = [
  { key: "name", label: "Name", width: "minmax(120px, 2fr)", cell: ({ name }) => name },
  {
    ...{ key: "description", label: "Description", width: "minmax(120px, 3fr)", isOptional: true },
    cell: ({ description }) => description ?? "",
  },
  {
    ...{ key: "active", label: "Predicts", width: "130px" },
    cell: ({ activeVersionId, isDeprecated }) =>
      isDeprecated ? "deprecated" : activeVersionId === null ? "no active version" : "yes",
  },
  {
    ...{ key: "created", label: "Created", width: "160px", isOptional: true },
    cell: ({ createdTime }) => timeText(createdTime),
  },
];

function ModelList({ models }: { models: readonly Model[] }) {
  const navigate = useNavigate({ from: "/models" });
  return (
    <VirtualTable
      label="Models"
      columns={columns}
      rows={models}
      rowKey={({ id }) => id}
      onOpen={({ id }) => void navigate({ search: { model: id } })}
      empty={
        <Empty title="There are no models yet" icon={<Boxes size={28} aria-hidden />}>
          Upload a source package. Then create a model, and a version of the model from the package.
        </Empty>
      }
    />
  );
}
