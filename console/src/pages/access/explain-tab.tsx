// "Why may X see Y?": the groups, scopes and security categories that decide about one record.
import {
  Alert,
  Card,
  List,
  NativeSelect,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  Text,
  Title,
} from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Check, X } from "lucide-react";
import { type AccessExplanation, getAccessExplanation } from "../../api/generated.ts";
import { useProject } from "../../session/session.ts";
import { Failure, Loading } from "../../ui/page-states.tsx";
import { useAccounts, useGroups } from "./data.ts";
import { RecordSelect } from "./record-select.tsx";
import { type AccessSearch, type ExplainedResource, explainedResources } from "./search.ts";

const resourceLabels: Readonly<Record<ExplainedResource, string>> = {
  assets: "the asset",
  timeseries: "the time series",
  events: "the event",
  files: "the file",
  sequences: "the sequence",
  relationships: "the relationship",
  trends: "the trend",
};

export function ExplainTab() {
  const { account, group, record } = useSearch({ from: "/frame/access" });
  return (
    <Stack maw={860}>
      <Text size="sm" c="var(--text-quiet)">
        Who may see or change a record, and why? Pick an account or a group, and the record. To look around as
        a group, open the group and choose “See as this group”.
      </Text>
      <Question />
      {(account ?? group) !== undefined && record !== undefined && <Explanation />}
    </Stack>
  );
}

function Question() {
  const { account, group, resource = "timeseries", record, action } = useSearch({ from: "/frame/access" });
  const navigate = useNavigate({ from: "/access" });
  const set = (change: Partial<AccessSearch>) =>
    void navigate({ search: (now) => ({ ...now, tab: "explain" as const, ...change }), replace: true });
  return (
    <Card component="section" aria-label="The question">
      <Stack>
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <SubjectSelect account={account} group={group} onChange={set} />
          <NativeSelect
            label="may"
            data={[
              { value: "READ", label: "see" },
              { value: "WRITE", label: "change" },
            ]}
            value={action ?? "READ"}
            onChange={(event) => set({ action: event.currentTarget.value === "WRITE" ? "WRITE" : undefined })}
          />
        </SimpleGrid>
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <NativeSelect
            label="which record"
            data={explainedResources.map((value) => ({ value, label: resourceLabels[value] }))}
            value={resource}
            onChange={(event) =>
              set({ resource: event.currentTarget.value as ExplainedResource, record: undefined })
            }
          />
          {resource === "assets" || resource === "timeseries" ? (
            <RecordSelect
              key={resource}
              resource={resource}
              value={record}
              onChange={(id) => set({ record: id })}
            />
          ) : (
            <NumberInput
              label="with the id"
              value={record ?? ""}
              onChange={(id) => set({ record: typeof id === "number" ? id : undefined })}
              allowDecimal={false}
              hideControls
              min={1}
            />
          )}
        </SimpleGrid>
      </Stack>
    </Card>
  );
}

interface SubjectSelectProps {
  readonly account: number | undefined;
  readonly group: number | undefined;
  onChange(change: Partial<AccessSearch>): void;
}

function SubjectSelect({ account, group, onChange }: SubjectSelectProps) {
  const accounts = useAccounts().data ?? [];
  const groups = useGroups().data ?? [];
  const pick = (value: string | null) => {
    const [kind, id] = (value ?? "").split(" ");
    const number = id === undefined ? undefined : Number(id);
    onChange({
      account: kind === "account" ? number : undefined,
      group: kind === "group" ? number : undefined,
    });
  };
  return (
    <Select
      label="Who"
      placeholder="An account or a group"
      data={[
        {
          group: "Accounts",
          items: accounts.map(({ id, uniqueName }) => ({ value: `account ${id}`, label: uniqueName })),
        },
        {
          group: "A member of the group alone",
          items: groups.map(({ id, name }) => ({ value: `group ${id}`, label: name })),
        },
      ]}
      value={account === undefined ? (group === undefined ? null : `group ${group}`) : `account ${account}`}
      onChange={pick}
      searchable
    />
  );
}

function Explanation() {
  const project = useProject();
  const { account, group, resource = "timeseries", record, action } = useSearch({ from: "/frame/access" });
  const subject = account === undefined ? { groupIds: `[${group}]` } : { userId: account };
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ["access", project, "explanation", resource, record, action, subject],
    queryFn: async ({ signal }) =>
      (await getAccessExplanation(project, resource, record!, { action, ...subject }, { signal })).data,
  });
  if (isPending) return <Loading what="the explanation" />;
  if (error) return <Failure problem={error} onRetry={() => void refetch()} />;
  return <Verdict explanation={data} />;
}

const pathText = (path: readonly { readonly id: number; readonly name?: string }[]): string =>
  path.map(({ id, name }) => name ?? id).join(" › ");

function Verdict({ explanation }: { explanation: AccessExplanation }) {
  const { allowed, reasons, groups, isByDefault, grants, paths, securityCategories } = explanation;
  return (
    <Stack aria-live="polite">
      <Alert
        color={allowed ? "teal" : "red"}
        icon={allowed ? <Check size={18} aria-hidden /> : <X size={18} aria-hidden />}
        title={allowed ? "Allowed" : "Not allowed"}
      >
        {reasons.map((reason) => (
          <Text key={reason} size="sm">
            {reason}
          </Text>
        ))}
      </Alert>
      <Detail title={isByDefault ? "Counts as a member of the default group" : "Groups that count"}>
        {groups.map(({ id, name }) => name ?? String(id))}
      </Detail>
      <Detail title="Grants of these groups">
        {grants.map(({ group, covers, chain }) =>
          covers
            ? `${group.name ?? group.id} covers the record${chain.length > 0 ? `: ${pathText(chain)}` : ""}`
            : `${group.name ?? group.id} does not cover the record`,
        )}
      </Detail>
      <Detail title="Where the record is">{paths.map(pathText)}</Detail>
      <Detail title="Security categories">
        {securityCategories.map(({ id, name, isMember, groups: by }) =>
          isMember
            ? `${name ?? id}: member by ${by.map((one) => one.name ?? one.id).join(", ")}`
            : `${name ?? id}: not a member`,
        )}
      </Detail>
    </Stack>
  );
}

function Detail({ title, children }: { title: string; children: readonly string[] }) {
  if (children.length === 0) return null;
  return (
    <section>
      <Title order={2} size="h6" mb={4}>
        {title}
      </Title>
      <List size="sm">
        {[...new Set(children)].map((text) => (
          <List.Item key={text}>{text}</List.Item>
        ))}
      </List>
    </section>
  );
}
