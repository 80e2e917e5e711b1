// One group: its name, members and rights.
import {
  Alert,
  Anchor,
  Button,
  Card,
  Group as Row,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
  Title,
} from "@mantine/core";
import { Link, useBlocker, useNavigate } from "@tanstack/react-router";
import { ArrowLeft, Eye, Star, Trash2 } from "lucide-react";
import { useState } from "react";
import {
  deleteGroupsByGroupId,
  type Group,
  type GroupChange,
  patchGroupsByGroupId,
  putDefaultgroup,
} from "../../api/generated.ts";
import { Confirm, Refusal } from "../../ui/confirm.tsx";
import { Empty, Failure, Loading } from "../../ui/page-states.tsx";
import classes from "./access.module.css";
import { useChange, useGroups, useProjectSettings } from "./data.ts";
import { GroupMembers } from "./group-members.tsx";
import { useSeeAs } from "./groups-tab.tsx";
import { capabilitiesOf, isIncomplete, type Rights, rightsOf } from "./rights.ts";
import { RightsMatrix } from "./rights-matrix.tsx";

export function GroupPage({ id }: { id: number }) {
  const groups = useGroups();
  if (groups.isPending) return <Loading what="the group" />;
  if (groups.isError) return <Failure problem={groups.error} onRetry={() => void groups.refetch()} />;
  const group = groups.data.find((one) => one.id === id);
  return (
    <Stack maw={980}>
      <Anchor
        renderRoot={(props) => <Link to="/access" search={{ tab: "groups" }} {...props} />}
        size="sm"
        className={classes["back"]}
      >
        <ArrowLeft size={15} aria-hidden /> All groups
      </Anchor>
      {group ? (
        <OpenGroup key={JSON.stringify(group)} group={group} />
      ) : (
        <Empty title="This group does not exist">It may have been deleted.</Empty>
      )}
    </Stack>
  );
}

function OpenGroup({ group }: { group: Group }) {
  return (
    <>
      <GroupHeader group={group} />
      <GroupEditor group={group} />
      <GroupMembers group={group} />
    </>
  );
}

function GroupHeader({ group }: { group: Group }) {
  const navigate = useNavigate({ from: "/access" });
  const [isDeleting, setIsDeleting] = useState(false);
  const see = useSeeAs(group.id);
  const remove = useChange({
    change: (project, id: number) => deleteGroupsByGroupId(project, id),
    done: () => `Deleted the group ${group.name}.`,
    onDone: () => navigate({ search: { tab: "groups" } }),
  });
  return (
    <Row justify="space-between" gap="xs">
      <Title order={2} size="h4">
        {group.name}
      </Title>
      <Row gap="xs">
        <Button
          leftSection={<Eye size={15} aria-hidden />}
          variant="default"
          loading={see.isPending}
          onClick={() => see.mutate()}
        >
          See as this group
        </Button>
        <DefaultGroupButton group={group} />
        <Button
          variant="default"
          c="var(--text-danger)"
          leftSection={<Trash2 size={15} aria-hidden />}
          onClick={() => setIsDeleting(true)}
        >
          Delete
        </Button>
      </Row>
      {isDeleting && (
        <Confirm
          title={`Delete the group ${group.name}?`}
          action="Delete the group"
          isPending={remove.isPending}
          problem={remove.error}
          onConfirm={() => remove.mutate(group.id)}
          onClose={() => setIsDeleting(false)}
        >
          Its members lose the rights that it grants. Members without another group get those of the default
          group.
        </Confirm>
      )}
    </Row>
  );
}

function DefaultGroupButton({ group }: { group: Group }) {
  const settings = useProjectSettings();
  const [isAsking, setIsAsking] = useState(false);
  const make = useChange({
    change: (project, id: number) => putDefaultgroup(project, { items: [id] }),
    done: () => `${group.name} is the default group.`,
    onDone: () => setIsAsking(false),
  });
  const isDefault = settings.data?.defaultGroupId === group.id;
  return (
    <>
      <Button
        variant="default"
        leftSection={<Star size={15} aria-hidden />}
        disabled={isDefault}
        onClick={() => setIsAsking(true)}
      >
        {isDefault ? "Is the default group" : "Make default"}
      </Button>
      {isAsking && (
        <Confirm
          title={`Make ${group.name} the default group?`}
          action="Make it the default group"
          isPending={make.isPending}
          problem={make.error}
          onConfirm={() => make.mutate(group.id)}
          onClose={() => setIsAsking(false)}
        >
          Every account and every user of the identity provider without another group gets its rights.
        </Confirm>
      )}
    </>
  );
}

function GroupEditor({ group }: { group: Group }) {
  const [start] = useState(() => rightsOf(group.capabilities));
  const [rights, setRights] = useState<Rights>(start.rights);
  const [name, setName] = useState(group.name);
  const [sourceId, setSourceId] = useState(group.sourceId ?? "");
  const save = useChange({
    change: (project, change: GroupChange) => patchGroupsByGroupId(project, group.id, change),
    done: () => `Saved the group ${name}. The rights count from now on.`,
  });
  const isChanged =
    rights !== start.rights || name.trim() !== group.name || sourceId.trim() !== (group.sourceId ?? "");
  useBlocker({ shouldBlockFn: () => isChanged && !window.confirm("Leave without saving the group?") });
  const isWhole = Object.values(rights).every((row) => !isIncomplete(row.read) && !isIncomplete(row.write));
  const submit = () =>
    save.mutate({
      ...(name.trim() !== group.name && { name: name.trim() }),
      ...(sourceId.trim() !== (group.sourceId ?? "") && { sourceId: sourceId.trim() || null }),
      ...(rights !== start.rights && { capabilities: capabilitiesOf(rights, start.others) }),
    });
  return (
    <Card component="section" aria-label="Rights">
      <Stack>
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <TextInput label="Name" value={name} onChange={(event) => setName(event.currentTarget.value)} />
          <TextInput
            label="Group of the identity provider"
            placeholder="None"
            value={sourceId}
            onChange={(event) => setSourceId(event.currentTarget.value)}
          />
        </SimpleGrid>
        {group.permissions && (
          <Alert color="yellow" title="This group also has older permissions">
            {JSON.stringify(group.permissions)}. They count besides the rights below, and stay.
          </Alert>
        )}
        <RightsMatrix rights={rights} onChange={setRights} />
        {start.others.length > 0 && (
          <Text size="sm" c="var(--text-quiet)">
            Also granted, and kept: {JSON.stringify(start.others)}
          </Text>
        )}
        <Refusal problem={save.error} />
        <Row justify="flex-end" className={classes["save"]}>
          {!isWhole && (
            <Text size="sm" c="var(--text-danger)" role="status">
              Pick something for every limited right.
            </Text>
          )}
          <Button onClick={submit} loading={save.isPending} disabled={!isChanged || !isWhole || !name.trim()}>
            Save the group
          </Button>
        </Row>
      </Stack>
    </Card>
  );
}
