// One transformation: its settings, its query with preview and plan, and its runs.
import { Card, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import type { Transformation } from "../../api/generated.ts";
import { timeText } from "../../lib/format.ts";
import { mayDo } from "../../session/rights.ts";
import { useProject, useSession } from "../../session/session.ts";
import { CopyAs } from "../../ui/copy-as.tsx";
import { Facts } from "../../ui/facts.tsx";
import { Page } from "../../ui/page.tsx";
import { Failure, Loading } from "../../ui/page-states.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { QueryCard } from "./query-card.tsx";
import { RunsCard } from "./runs-card.tsx";
import { TransformationActions } from "./transformation-actions.tsx";
import { destinationText, nextRunText, scheduleText, transformationQuery } from "./transformations-data.ts";

export function TransformationPage() {
  const { id } = useParams({ from: "/frame/transformations/$id" });
  const { data, error, isPending, refetch } = useQuery(transformationQuery(useProject(), id));
  if (isPending) return <Loading what="the transformation" />;
  if (!data) return <Failure problem={error} onRetry={() => void refetch()} />;
  return <TransformationRecord key={id} transformation={data} />;
}

function TransformationRecord({ transformation }: { transformation: Transformation }) {
  const project = useProject();
  const { id, name } = transformation;
  const path = `/transformations/${id}`;
  return (
    <Page
      title={name}
      note="transformation"
      actions={
        <>
          <CopyAs request={{ method: "GET", project, path, odata: `Transformations('${id}')` }} />
          {mayDo(useSession(), "transformationsAcl", "WRITE") && (
            <TransformationActions transformation={transformation} />
          )}
        </>
      }
    >
      <Stack gap="sm">
        <TextLink to="/transformations" style={{ alignSelf: "flex-start" }}>
          All transformations
        </TextLink>
        <Card>
          <TransformationFacts transformation={transformation} />
        </Card>
        <QueryCard transformation={transformation} />
        <RunsCard id={id} />
      </Stack>
    </Page>
  );
}

function TransformationFacts({ transformation }: { transformation: Transformation }) {
  const { externalId, action, destination, nulls, onError, owner, marks, lastUpdatedTime } = transformation;
  return (
    <Facts
      facts={[
        { label: "Writes", value: `${action} ${destinationText(destination)}` },
        { label: "Runs", value: scheduleText(transformation) },
        { label: "Next run", value: transformation.schedule && nextRunText(transformation) },
        { label: "With the rights of", value: owner },
        {
          label: "A null",
          value: nulls === "keep" ? "leaves the value of the record" : "clears the value of the record",
        },
        {
          label: "A refused row",
          value: onError === "stop" ? "ends the run" : "is left out and kept in a raw table",
        },
        { label: "Marks of is_new", value: Object.keys(marks).join(", ") },
        { label: "External id", value: externalId },
        { label: "Changed", value: timeText(lastUpdatedTime) },
      ]}
    />
  );
}
