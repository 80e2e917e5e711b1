// Accounts, keys, groups, security categories and the identity provider, for administrators.
import { Tabs } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { ShieldOff } from "lucide-react";
import type { ReactNode } from "react";
import { useProject, useSession } from "../../session/session.ts";
import { CopyAs } from "../../ui/copy-as.tsx";
import { Page } from "../../ui/page.tsx";
import { Empty } from "../../ui/page-states.tsx";
import { TabList } from "../../ui/tab-list.tsx";
import { AccountsTab } from "./accounts-tab.tsx";
import { CategoriesTab } from "./categories-tab.tsx";
import { ExplainTab } from "./explain-tab.tsx";
import { GroupPage } from "./group-page.tsx";
import { GroupsTab } from "./groups-tab.tsx";
import { KeysTab } from "./keys-tab.tsx";
import { ProviderTab } from "./provider-tab.tsx";
import { type AccessTab, accessTabs } from "./search.ts";

const labels: Readonly<Record<AccessTab, string>> = {
  accounts: "Accounts",
  keys: "Keys",
  groups: "Groups",
  categories: "Security categories",
  provider: "Identity provider",
  explain: "Who sees what",
};

const contents: Readonly<Record<AccessTab, () => ReactNode>> = {
  accounts: AccountsTab,
  keys: KeysTab,
  groups: GroupsTab,
  categories: CategoriesTab,
  provider: ProviderTab,
  explain: ExplainTab,
};

export function AccessPage() {
  const { isAdministrator } = useSession();
  const { tab = "accounts", group } = useSearch({ from: "/frame/access" });
  if (!isAdministrator) return <NotForMembers />;
  const Content = contents[tab];
  const fills = ["accounts", "keys", "categories"].includes(tab) || (tab === "groups" && group === undefined);
  return (
    <AccessTabs tab={tab}>
      <Page
        title="Access"
        fills={fills}
        toolbar={<AccessTabList tab={tab} />}
        actions={<CopyList tab={tab} group={group} />}
      >
        <Tabs.Panel value={tab} h={fills ? "100%" : undefined}>
          {tab === "groups" && group !== undefined ? <GroupPage key={group} id={group} /> : <Content />}
        </Tabs.Panel>
      </Page>
    </AccessTabs>
  );
}

function AccessTabs({ tab, children }: { tab: AccessTab; children: ReactNode }) {
  const navigate = useNavigate({ from: "/access" });
  const open = (value: string | null) => {
    const next = accessTabs.find((one) => one === value);
    void navigate({ search: { tab: next === "accounts" ? undefined : next } });
  };
  return (
    <Tabs value={tab} onChange={open} activateTabWithKeyboard={false}>
      {children}
    </Tabs>
  );
}

function AccessTabList({ tab }: { tab: AccessTab }) {
  return (
    <TabList selected={tab} aria-label="Parts of access">
      {accessTabs.map((value) => (
        <Tabs.Tab key={value} value={value}>
          {labels[value]}
        </Tabs.Tab>
      ))}
    </TabList>
  );
}

/** The list of each tab in the API; an explanation has no list. */
const paths: Readonly<Partial<Record<AccessTab, string>>> = {
  accounts: "/users",
  keys: "/apikeys",
  groups: "/groups",
  categories: "/securitycategories",
  provider: "",
};

function CopyList({ tab, group }: { tab: AccessTab; group: number | undefined }) {
  const project = useProject();
  const path = tab === "groups" && group !== undefined ? `/groups/${group}` : paths[tab];
  return path !== undefined && <CopyAs request={{ method: "GET", project, path }} />;
}

function NotForMembers() {
  const { seenAs } = useSession();
  return (
    <Page title="Access">
      <Empty title="This page is for administrators" icon={<ShieldOff size={28} aria-hidden />}>
        {seenAs
          ? `A member of ${seenAs.name} cannot open it. End the view as a group to continue.`
          : "Ask an administrator of the project to change accounts, keys and groups for you."}
      </Empty>
    </Page>
  );
}
