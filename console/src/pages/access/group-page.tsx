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
        <OpenGroup key={id} group={group} />
      ) : (
        <Empty title="This group does not exist">It may have been deleted.</Empty>
      )}
    </Stack>
  );
}

function OpenGroup({ group }: { group: Group }) {
  const form = useGroupForm(group);
  return (
    <>
      <GroupHeader group={group} isChanged={form.isChanged} />
      <GroupEditor group={group} form={form} />
      <GroupMembers group={group} />
    </>
  );
}

interface GroupHeaderProps {
  readonly group: Group;
  /** Whether the editor has changes that are not saved. */
  readonly isChanged: boolean;
}

function GroupHeader({ group, isChanged }: GroupHeaderProps) {
  const navigate = useNavigate({ from: "/access" });
  const [isDeleting, setIsDeleting] = useState(false);
  const see = useSeeAs(group.id);
  const remove = useChange({
    change: (project, id: number) => deleteGroupsByGroupId(project, id),
    done: () => `Deleted the group ${group.name}.`,
    onDone: () => navigate({ search: { tab: "groups" }, ignoreBlocker: true }),
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
          disabled={isChanged}
          title={isChanged ? "Save the group first" : undefined}
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

interface Fields {
  /** The group that the person began with. */
  readonly before: Group;
  readonly start: ReturnType<typeof rightsOf>;
  readonly rights: Rights;
  readonly name: string;
  readonly sourceId: string;
}

function fieldsOf(before: Group): Fields {
  const start = rightsOf(before.capabilities);
  return { before, start, rights: start.rights, name: before.name, sourceId: before.sourceId ?? "" };
}

/** The fields of the editor. A group that was read again replaces them, unless the person changed one. */
function useGroupForm(group: Group) {
  const [fields, setFields] = useState(() => fieldsOf(group));
  const [read, setRead] = useState(group);
  const { before, start, rights, name, sourceId } = fields;
  const isChanged =
    rights !== start.rights || name.trim() !== before.name || sourceId.trim() !== (before.sourceId ?? "");
  if (group !== read) {
    setRead(group);
    if (!isChanged) setFields(fieldsOf(group));
  }
  return {
    ...{ fields, isChanged },
    /** Another administrator has changed the group, and the fields do not have it. */
    isOutdated: isChanged && contentOf(group) !== contentOf(before),
    change: (part: Partial<Fields>) => setFields((now) => ({ ...now, ...part })),
    restart: (from: Group) => setFields(fieldsOf(from)),
  };
}

const contentOf = ({ name, sourceId, permissions, capabilities }: Group): string =>
  JSON.stringify([name, sourceId, permissions, capabilities]);

interface GroupEditorProps {
  readonly group: Group;
  readonly form: ReturnType<typeof useGroupForm>;
}

function useSave(group: Group, { fields, restart }: GroupEditorProps["form"]) {
  const { before, start, rights, name, sourceId } = fields;
  const save = useChange({
    change: async (project, sent: GroupChange) => {
      const { data } = await patchGroupsByGroupId(project, group.id, sent);
      // Before the groups are read again: the change is no change by another administrator.
      restart(data.items[0]!);
    },
    done: () => `Saved the group ${name}. The rights count from now on.`,
  });
  const submit = () =>
    save.mutate({
      ...(name.trim() !== before.name && { name: name.trim() }),
      ...(sourceId.trim() !== (before.sourceId ?? "") && { sourceId: sourceId.trim() || null }),
      ...(rights !== start.rights && { capabilities: capabilitiesOf(rights, start.others) }),
    });
  return { save, submit };
}

function GroupEditor({ group, form }: GroupEditorProps) {
  const { fields, isChanged, change } = form;
  const { start, rights, name, sourceId } = fields;
  const { save, submit } = useSave(group, form);
  useBlocker({
    shouldBlockFn: () => !window.confirm("Leave without saving the group?"),
    disabled: !isChanged,
  });
  const isWhole = Object.values(rights).every((row) => !isIncomplete(row.read) && !isIncomplete(row.write));
  return (
    <Card component="section" aria-label="Rights">
      <Stack>
        {form.isOutdated && <ChangedByOthers onDiscard={() => form.restart(group)} />}
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <TextInput
            label="Name"
            value={name}
            onChange={(event) => change({ name: event.currentTarget.value })}
          />
          <TextInput
            label="Group of the identity provider"
            placeholder="None"
            value={sourceId}
            onChange={(event) => change({ sourceId: event.currentTarget.value })}
          />
        </SimpleGrid>
        {group.permissions && (
          <Alert color="yellow" title="This group also has older permissions">
            {JSON.stringify(group.permissions)}. They count besides the rights below, and stay.
          </Alert>
        )}
        <RightsMatrix rights={rights} onChange={(changed) => change({ rights: changed })} />
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

const ChangedByOthers = ({ onDiscard }: { onDiscard(): void }) => (
  <Alert color="yellow" role="status" title="Somebody else has changed this group meanwhile">
    <Stack gap="xs" align="flex-start">
      <Text size="sm">Your changes are not saved yet. Rights that you save replace those of the group.</Text>
      <Button size="xs" variant="default" onClick={onDiscard}>
        Discard my changes
      </Button>
    </Stack>
  </Alert>
);
