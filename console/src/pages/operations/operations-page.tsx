// Operations: the state of the server for administrators, and the retention rules for those who may set them.
import { Tabs } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { ShieldAlert } from "lucide-react";
import { mayDo } from "../../session/rights.ts";
import { useSession } from "../../session/session.ts";
import { Page } from "../../ui/page.tsx";
import { Empty } from "../../ui/page-states.tsx";
import { TabList } from "../../ui/tab-list.tsx";
import { RetentionTab } from "./retention-tab.tsx";
import { ServerTab } from "./server-tab.tsx";

export function OperationsPage() {
  const session = useSession();
  const { tab } = useSearch({ from: "/frame/operations" });
  if (session.isAdministrator) return <OperationsTabs tab={tab ?? "server"} />;
  // A rule is a setting of the project.
  if (mayDo(session, "projectsAcl", "UPDATE")) return <RetentionTab />;
  return (
    <Page title="Operations">
      <Empty title="This page is for administrators" icon={<ShieldAlert size={28} aria-hidden />}>
        An administrator can add you to the group of administrators.
      </Empty>
    </Page>
  );
}

function OperationsTabs({ tab }: { tab: "server" | "retention" }) {
  const navigate = useNavigate({ from: "/operations" });
  const open = (value: string | null) =>
    void navigate({ search: value === "retention" ? { tab: value } : {} });
  const tabs = (
    <TabList selected={tab} aria-label="Parts of operations">
      <Tabs.Tab value="server">Server</Tabs.Tab>
      <Tabs.Tab value="retention">Retention</Tabs.Tab>
    </TabList>
  );
  return (
    <Tabs value={tab} onChange={open} activateTabWithKeyboard={false}>
      {tab === "server" ? <ServerTab tabs={tabs} /> : <RetentionTab tabs={tabs} />}
    </Tabs>
  );
}
