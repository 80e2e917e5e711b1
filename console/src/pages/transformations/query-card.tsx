// Edits the SQL of a transformation, marks its errors, and shows the rows of the query or the plan of a run.
import { Alert, Button, type ButtonProps, Card, Group, Stack, Text, Title } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useBlocker } from "@tanstack/react-router";
import { CircleAlert, ListChecks, type LucideIcon, Rows3, Save } from "lucide-react";
import { useState } from "react";
import {
  getTransformationsByTransformationId,
  postTransformationsByTransformationIdPlan,
  postTransformationsPreview,
  postTransformationsUpdate,
  type Transformation,
  type TransformationPlan,
} from "../../api/generated.ts";
import { mayDo } from "../../session/rights.ts";
import { useProject, useSession } from "../../session/session.ts";
import classes from "../../ui/expression/expression.module.css";
import { type Fault, faultOf } from "../../ui/expression/fault.ts";
import { Marked } from "../../ui/expression/marked.tsx";
import { Loading } from "../../ui/page-states.tsx";
import { PlanView } from "./plan-view.tsx";
import { PreviewTable } from "./preview-table.tsx";
import { transformationQuery, useTransformationsChange } from "./transformations-data.ts";

const previewRows = 100;

export function QueryCard({ transformation }: { transformation: Transformation }) {
  const { query: saved } = transformation;
  const mayWrite = mayDo(useSession(), "transformationsAcl", "WRITE");
  const [text, setText] = useState<string>();
  const query = text ?? saved;
  // Keeps the input of a person while the query is being saved.
  const onSaved = (sent: string) => setText((now) => (now === sent ? undefined : now));
  const { preview, plan, save, reset } = useSteps(transformation, query, onSaved);
  const fault = faultOf(save.error ?? plan.error ?? preview.error, { text: query, aliases: [] });
  const isChanged = query !== saved;
  useQuestionAtLeave(isChanged && mayWrite);
  const show = (step: typeof preview | typeof plan) => {
    reset();
    step.mutate();
  };
  const edit = (value: string) => {
    setText(value);
    reset();
  };
  return (
    <Card>
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h5">
            Query
          </Title>
          <Group gap="xs">
            <StepButton
              label="Preview rows"
              icon={Rows3}
              isPending={preview.isPending}
              onClick={() => show(preview)}
            />
            <StepButton
              {...{ label: "Plan a run", icon: ListChecks, isPending: plan.isPending, disabled: isChanged }}
              title={isChanged ? "Save the query first" : undefined}
              onClick={() => show(plan)}
            />
            {mayWrite && (
              <StepButton
                {...{ label: "Save query", icon: Save, variant: "filled", isPending: save.isPending }}
                disabled={!isChanged}
                onClick={() => save.mutate()}
              />
            )}
          </Group>
        </Group>
        <SqlEditor text={query} fault={fault} onChange={edit} />
        {isChanged && <Unsaved transformation={transformation} />}
        {fault && <FaultNotice title={failureOf({ save, plan })} fault={fault} text={query} />}
        {(preview.isPending || plan.isPending) && <Loading what="the rows of the query" />}
        {preview.data && <PreviewTable preview={preview.data} />}
        {plan.data && <Planned {...plan.data} now={stateOf(transformation)} />}
      </Stack>
    </Card>
  );
}

function useQuestionAtLeave(isUnsaved: boolean): void {
  useBlocker({
    shouldBlockFn: ({ current, next }) =>
      current.pathname !== next.pathname && !window.confirm("Leave without saving the query?"),
    disabled: !isUnsaved,
  });
}

const failureOf = (steps: Readonly<Record<"save" | "plan", { readonly error: unknown }>>): string => {
  if (steps.save.error) return "The query was not saved";
  return steps.plan.error ? "No run was planned" : "No row was read";
};

interface StepButtonProps extends Pick<ButtonProps, "variant" | "disabled"> {
  readonly label: string;
  readonly icon: LucideIcon;
  readonly title?: string | undefined;
  readonly isPending: boolean;
  onClick(): void;
}

const StepButton = ({ label, icon: Icon, isPending, variant = "default", ...props }: StepButtonProps) => (
  <Button
    size="xs"
    leftSection={<Icon size={14} aria-hidden />}
    loading={isPending}
    {...{ variant, ...props }}
  >
    {label}
  </Button>
);

function useSteps({ id }: Transformation, query: string, onSaved: (sent: string) => void) {
  const project = useProject();
  const client = useQueryClient();
  const preview = useMutation({
    mutationFn: async () => (await postTransformationsPreview(project, { query, limit: previewRows })).data,
  });
  const { queryKey } = transformationQuery(project, id);
  const plan = useMutation({
    mutationFn: async () => {
      const found = (await getTransformationsByTransformationId(project, id)).data.items[0]!;
      client.setQueryData(queryKey, found);
      const { data } = await postTransformationsByTransformationIdPlan(project, id);
      return { plan: data, state: stateOf(found) };
    },
  });
  const save = useTransformationsChange(async () => {
    const items = [{ id, query: { set: query } }];
    const { data } = await postTransformationsUpdate(project, { items });
    client.setQueryData(queryKey, data.items[0]!);
    onSaved(query);
  });
  const reset = () => {
    for (const step of [preview, plan]) step.reset();
    if (!save.isPending) save.reset();
  };
  return { preview, plan, save, reset };
}

/** Differs after a change and after each start or end of a run. */
const stateOf = ({ lastUpdatedTime, lastRun }: Transformation): string =>
  JSON.stringify([lastUpdatedTime, lastRun?.id, lastRun?.status]);

interface PlannedProps {
  readonly plan: TransformationPlan;
  /** The state of the transformation that the plan is of. */
  readonly state: string;
  readonly now: string;
}

/** The plan, until the transformation changes or runs. */
function Planned({ plan, state, now }: PlannedProps) {
  if (state === now) return <PlanView plan={plan} />;
  return (
    <Text size="sm" role="status">
      The transformation has changed or run since the plan was made. Plan a run again.
    </Text>
  );
}

function Unsaved({ transformation: { owner, ownerId } }: { transformation: Transformation }) {
  const { account } = useSession();
  return (
    <Text size="sm" c="var(--text-quiet)">
      The query is not saved. Runs and plans have the saved one.
      {ownerId !== account.id &&
        ` Runs have the rights of ${owner}; when you save, you become the owner, and they have yours.`}
    </Text>
  );
}

interface SqlEditorProps {
  readonly text: string;
  readonly fault: Fault | undefined;
  onChange(text: string): void;
}

const SqlEditor = ({ text, fault, onChange }: SqlEditorProps) => (
  <div className={classes["editor"]}>
    <Marked text={text} at={fault?.at} />
    <textarea
      className={classes["input"]}
      value={text}
      spellCheck={false}
      autoCapitalize="off"
      aria-label="Query"
      aria-invalid={fault !== undefined}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  </div>
);

interface FaultNoticeProps {
  readonly title: string;
  readonly fault: Fault;
  readonly text: string;
}

function FaultNotice({ title, fault: { at, message }, text }: FaultNoticeProps) {
  const before = at === undefined ? [] : text.slice(0, at).split("\n");
  const place = at === undefined ? "" : `Line ${before.length}, character ${before.at(-1)!.length + 1}: `;
  return (
    <Alert color="red" role="alert" icon={<CircleAlert size={18} aria-hidden />} title={title}>
      {place + message}
    </Alert>
  );
}
