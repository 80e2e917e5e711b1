// The list of retention rules: which series they are for, how long these keep points, and the last run.
import { ActionIcon, Alert, Button, Group, Stack, Text } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { Hourglass, Pencil, Plus, Trash2, TriangleAlert } from "lucide-react";
import { type ReactNode, useState } from "react";
import { postRetentionrulesDelete, type RetentionRule } from "../../api/generated.ts";
import { countOf, countText } from "../../lib/format.ts";
import { mayDo } from "../../session/rights.ts";
import { useProject, useSession } from "../../session/session.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { Page } from "../../ui/page.tsx";
import { Empty, Failure, Loading } from "../../ui/page-states.tsx";
import { useSeriesNames } from "../../ui/series-hits.ts";
import { TextLink } from "../../ui/text-link.tsx";
import { useAssetNames } from "../../ui/use-asset-names.ts";
import { useNow } from "../../ui/use-now.ts";
import { type TableColumn, VirtualTable } from "../../ui/virtual-table.tsx";
import classes from "./operations.module.css";
import { stateText, useRules, useRulesChange } from "./retention-data.ts";
import { EditRule, NewRule } from "./retention-form.tsx";

type Dialog = { readonly kind: "new" } | { readonly kind: "edit" | "delete"; readonly rule: RetentionRule };

const nowEveryMs = 30_000;
/** Three lines: narrow windows show the series and the state below the name. */
const narrowRowHeight = 62;

/** `tabs` leads to the other parts of the page, for those who may open them. */
export function RetentionTab({ tabs }: { tabs?: ReactNode }) {
  const project = useProject();
  const session = useSession();
  const rules = useRules();
  const [dialog, setDialog] = useState<Dialog>();
  const close = () => setDialog(undefined);
  const mayWrite = mayDo(session, "projectsAcl", "UPDATE") && mayDo(session, "timeSeriesAcl", "WRITE");
  return (
    <Page
      title="Operations"
      toolbar={tabs}
      fills
      note={rules.data && countOf(rules.data.length, "retention rule")}
      actions={
        <>
          {mayWrite && (
            <Button
              size="xs"
              leftSection={<Plus size={15} aria-hidden />}
              onClick={() => setDialog({ kind: "new" })}
            >
              New rule
            </Button>
          )}
          <CopyAs request={{ method: "GET", project, path: "/retentionrules" }} />
        </>
      }
    >
      {rules.isPending && <Loading what="the retention rules" />}
      {rules.isError && <Failure problem={rules.error} onRetry={() => void rules.refetch()} />}
      {rules.data && <Rules rules={rules.data} open={mayWrite ? setDialog : undefined} />}
      {dialog?.kind === "new" && <NewRule onClose={close} />}
      {dialog?.kind === "edit" && <Edit rule={dialog.rule} onClose={close} />}
      {dialog?.kind === "delete" && <DeleteRule rule={dialog.rule} onClose={close} />}
    </Page>
  );
}

interface RulesProps {
  readonly rules: readonly RetentionRule[];
  /** Absent for those who may not change rules. */
  readonly open: ((dialog: Dialog) => void) | undefined;
}

function Rules({ rules, open }: RulesProps) {
  const columns = useColumns(rules, open);
  const isNarrow = useMediaQuery("(max-width: 48em)");
  const failed = rules.filter(({ lastRun }) => lastRun?.errorMessage !== undefined);
  return (
    <div className={classes["retention"]}>
      {failed.map(({ id, name, lastRun }) => (
        <Alert
          key={id}
          color="red"
          role="alert"
          icon={<TriangleAlert size={18} aria-hidden />}
          title={`The last run of ${name} failed`}
        >
          {sentence(lastRun?.errorMessage ?? "")} The next run, within an hour, tries again.
        </Alert>
      ))}
      <VirtualTable
        label="Retention rules"
        columns={columns}
        rows={rules}
        rowKey={({ id }) => id}
        {...(isNarrow && { rowHeight: narrowRowHeight })}
        empty={
          <Empty title="There are no retention rules" icon={<Hourglass size={28} aria-hidden />}>
            Without a rule, all points are kept. A rule removes the old points of one series, of the series
            below an asset, or of all series. It begins a day after it is made.
          </Empty>
        }
      />
    </div>
  );
}

function useColumns(
  rules: readonly RetentionRule[],
  open: ((dialog: Dialog) => void) | undefined,
): TableColumn<RetentionRule>[] {
  const nowMs = useNow(nowEveryMs);
  const targetOf = useTargets(rules);
  return [
    {
      ...{ key: "name", label: "Name", width: "minmax(140px, 2fr)", isRowHeader: true },
      cell: (rule) => (
        <Stack gap={0}>
          <Cut text={rule.name} />
          <Text size="xs" c="var(--text-quiet)" hiddenFrom="sm" truncate>
            {daysText(rule)}, {targetOf(rule)}
          </Text>
          <Text size="xs" c="var(--text-quiet)" hiddenFrom="sm" truncate>
            {stateText(rule, nowMs)}
          </Text>
        </Stack>
      ),
    },
    {
      ...{ key: "target", label: "Series", width: "minmax(120px, 3fr)", isOptional: true },
      cell: targetOf,
    },
    { key: "days", label: "Keeps", width: "105px", isNumeric: true, isOptional: true, cell: daysText },
    {
      ...{ key: "state", label: "State", width: "minmax(240px, 3fr)", isOptional: true },
      cell: (rule) => <Cut text={stateText(rule, nowMs)} />,
    },
    {
      ...{ key: "removed", label: "Points removed", width: "125px", isNumeric: true, isOptional: true },
      cell: ({ removedPoints }) => (removedPoints === undefined ? "" : countText(removedPoints)),
    },
    ...(open ? [actionsColumn(open)] : []),
  ];
}

/** A text that a narrow column cuts; the pointer shows all of it. */
const Cut = ({ text }: { text: string }) => (
  <Text size="sm" truncate title={text}>
    {text}
  </Text>
);

const sentence = (text: string): string => text.replace(/[^.!?]$/, "$&.");

const daysText = ({ keepDays }: RetentionRule): string => countOf(keepDays, "day");

const actionsColumn = (open: (dialog: Dialog) => void): TableColumn<RetentionRule> => ({
  ...{ key: "actions", label: "Actions", isLabelHidden: true, width: "64px" },
  cell: (rule) => (
    <Group gap={0} wrap="nowrap">
      <ActionIcon
        variant="subtle"
        aria-label={`Edit the rule ${rule.name}`}
        onClick={() => open({ kind: "edit", rule })}
      >
        <Pencil size={16} aria-hidden />
      </ActionIcon>
      <ActionIcon
        variant="subtle"
        color="red"
        aria-label={`Delete the rule ${rule.name}`}
        onClick={() => open({ kind: "delete", rule })}
      >
        <Trash2 size={16} aria-hidden />
      </ActionIcon>
    </Group>
  ),
});

/** The series of a rule, as a link to the series or the asset. */
function useTargets(rules: readonly RetentionRule[]): (rule: RetentionRule) => ReactNode {
  const seriesName = useSeriesNames(rules.flatMap(({ seriesId }) => seriesId ?? []));
  const assetName = useAssetNames(rules.flatMap(({ assetId }) => assetId ?? []));
  return ({ seriesId, assetId }) => {
    if (seriesId !== undefined)
      return (
        <TextLink to="/series/$id" params={{ id: seriesId }}>
          {seriesName(seriesId)}
        </TextLink>
      );
    if (assetId === undefined) return "all series";
    return (
      <>
        <TextLink to="/assets/$id" params={{ id: assetId }}>
          {assetName(assetId)}
        </TextLink>{" "}
        and below
      </>
    );
  };
}

interface RuleDialogProps {
  readonly rule: RetentionRule;
  onClose(): void;
}

const Edit = ({ rule, onClose }: RuleDialogProps) => (
  <EditRule rule={rule} target={useTargets([rule])(rule)} onClose={onClose} />
);

function DeleteRule({ rule: { id, name }, onClose }: RuleDialogProps) {
  const project = useProject();
  const { mutate, isPending, error } = useRulesChange(async () => {
    await postRetentionrulesDelete(project, { items: [id] });
    onClose();
  });
  return (
    <Confirm
      title={`Delete the retention rule ${name}?`}
      action="Delete the rule"
      {...{ isPending, problem: error, onClose }}
      onConfirm={() => mutate()}
    >
      Its series then keep all their points. A less specific rule, such as that of an asset above, counts
      instead of it where there is one, and removes points from a day later on. Removed points do not come
      back.
    </Confirm>
  );
}
