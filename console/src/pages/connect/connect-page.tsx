// Connects other tools to this server: the connectors, and steps and programs that work as they are, with a
// new key if wanted.
import { Button, Card, Group, SegmentedControl, Stack, Tabs, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Braces, KeyRound } from "lucide-react";
import { useState } from "react";
import { getTimeseries } from "../../api/generated.ts";
import { useProject } from "../../session/session.ts";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Page } from "../../ui/page.tsx";
import { Secret } from "../../ui/secret.tsx";
import { TabList } from "../../ui/tab-list.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import classes from "./connect.module.css";
import { ConnectKey, type NewConnectKey, useMayCreateKeys } from "./connect-key.tsx";
import { Connectors } from "./connectors.tsx";
import { guides } from "./guides.ts";
import { type Tool, tools } from "./search.ts";
import { type ShellName, shellLabels, usualShell } from "./shells.ts";

const placeholderKey = "mr_...";
const placeholderSeries = "name.of.a.series";

/** A key that writes has other rights than one of a tool that reads. */
type Use = "read" | "csv" | "connector";
type NewKeys = Readonly<Partial<Record<Use, NewConnectKey>>>;

export function ConnectPage() {
  const { tool = "powerbi" } = useSearch({ from: "/frame/connect" });
  const navigate = useNavigate({ from: "/connect" });
  const [newKeys, setNewKeys] = useState<NewKeys>({});
  const [shell, setShell] = useState(usualShell);
  const use: Use = tool === "connector" || tool === "csv" ? tool : "read";
  const newKey = newKeys[use];
  const open = (value: string | null) => {
    const next = tools.find((one) => one === value);
    void navigate({ search: { tool: next === "powerbi" ? undefined : next } });
  };
  return (
    <Page
      title="Connect"
      actions={
        <Button
          variant="default"
          size="xs"
          leftSection={<Braces size={14} aria-hidden />}
          renderRoot={(props) => <Link to="/connect/api" {...props} />}
        >
          API explorer
        </Button>
      }
    >
      <Connectors />
      <Tabs value={tool} onChange={open} activateTabWithKeyboard={false}>
        <TabList selected={tool} aria-label="Tools">
          {tools.map((one) => (
            <Tabs.Tab key={one} value={one}>
              {guides[one].label}
            </Tabs.Tab>
          ))}
        </TabList>
        <Tabs.Panel value={tool} pt="md">
          <Stack maw={860}>
            <KeyPart {...{ tool, newKey }} onCreated={(key) => setNewKeys({ ...newKeys, [use]: key })} />
            <GuideSteps newKey={newKey} shell={shell} onShell={setShell} />
          </Stack>
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

interface KeyPartProps {
  readonly tool: Tool;
  readonly newKey: NewConnectKey | undefined;
  onCreated(key: NewConnectKey): void;
}

function KeyPart({ tool, newKey, onCreated }: KeyPartProps) {
  const [isOpen, setIsOpen] = useState(false);
  const mayCreate = useMayCreateKeys();
  if (newKey) return <Secret value={newKey.value} account={newKey.account} />;
  return (
    <Card component="section" aria-label="Key">
      <Group justify="space-between" gap="sm">
        <Stack gap={2} className={classes["grow"]}>
          <Title order={2} size="h5">
            A key for {guides[tool].keyFor ?? guides[tool].label}
          </Title>
          <Text size="sm" c="var(--text-quiet)">
            {mayCreate
              ? "Each tool gets its own key, which can be deleted alone. The steps below then contain it."
              : "You may not create keys. Ask an administrator for one, and put it in place of mr_... below."}
          </Text>
        </Stack>
        {mayCreate && (
          <Button leftSection={<KeyRound size={15} aria-hidden />} onClick={() => setIsOpen(true)}>
            New key
          </Button>
        )}
      </Group>
      {isOpen && (
        <ConnectKey
          tool={tool}
          onCreated={(key) => {
            setIsOpen(false);
            onCreated(key);
          }}
          onClose={() => setIsOpen(false)}
        />
      )}
    </Card>
  );
}

interface GuideStepsProps {
  readonly newKey: NewConnectKey | undefined;
  readonly shell: ShellName;
  onShell(shell: ShellName): void;
}

function GuideSteps({ newKey, shell, onShell }: GuideStepsProps) {
  const project = useProject();
  const { tool = "powerbi" } = useSearch({ from: "/frame/connect" });
  const { data: series } = useQuery({
    queryKey: ["connect", project, "series"],
    queryFn: async ({ signal }) =>
      (await getTimeseries(project, { limit: 1 }, { signal })).data.items[0]?.name ?? placeholderSeries,
  });
  const context = {
    ...{ project, series: series ?? placeholderSeries, key: newKey?.value ?? placeholderKey },
    ...(newKey?.asset !== undefined && { asset: newKey.asset }),
  };
  const steps = guides[tool].steps(context);
  return (
    <>
      {tool === "csv" && (
        <Text size="sm">
          <TextLink to="/series/import" underline="always">
            Import a file in the browser
          </TextLink>
          , or with commands, which need no open window:
        </Text>
      )}
      {steps.some((step) => "sh" in step) && (
        <SegmentedControl
          aria-label="Commands for"
          size="xs"
          className={classes["shells"]}
          data={Object.entries(shellLabels).map(([value, label]) => ({ value, label }))}
          value={shell}
          onChange={(value) => onShell(value as ShellName)}
        />
      )}
      {steps.map((step) => {
        if ("text" in step)
          return (
            <Text key={step.text} size="sm">
              {step.text}
            </Text>
          );
        if ("code" in step) return <CodeBlock key={step.label} {...step} />;
        const language = shell === "sh" ? "shell" : "PowerShell";
        return <CodeBlock key={step.label} label={step.label} language={language} code={step[shell]} />;
      })}
    </>
  );
}
