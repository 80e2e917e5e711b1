// The API explorer: sends the operations of the OpenAPI description with the session.
import { SegmentedControl, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Braces } from "lucide-react";
import { Page } from "../../../ui/page.tsx";
import { Empty, Failure, Loading } from "../../../ui/page-states.tsx";
import { TextLink } from "../../../ui/text-link.tsx";
import classes from "./api.module.css";
import { OperationList } from "./operation-list.tsx";
import { OperationPanel } from "./operation-panel.tsx";
import { type Description, descriptionQuery } from "./operations.ts";
import { type ApiVersion, currentVersion, versions } from "./search.ts";

export function ApiPage() {
  const { version = currentVersion } = useSearch({ from: "/frame/connect/api" });
  const description = useQuery(descriptionQuery(version));
  return (
    <Page
      title="API explorer"
      fills
      note={<TextLink to="/connect">Connect</TextLink>}
      actions={<VersionChoice />}
    >
      {description.isPending && <Loading what="the operations" />}
      {description.isError && (
        <Failure problem={description.error} onRetry={() => void description.refetch()} />
      )}
      {description.data && <Explorer description={description.data} />}
    </Page>
  );
}

function VersionChoice() {
  const { version = currentVersion } = useSearch({ from: "/frame/connect/api" });
  const navigate = useNavigate({ from: "/connect/api" });
  return (
    <SegmentedControl
      aria-label="Version of the API"
      size="xs"
      data={[...versions]}
      value={version}
      onChange={(value) => void navigate({ search: (now) => ({ ...now, version: value as ApiVersion }) })}
    />
  );
}

function Explorer({ description: { operations, schemas } }: { description: Description }) {
  const { version, operation: openId } = useSearch({ from: "/frame/connect/api" });
  const open = operations.find(({ id }) => id === openId);
  return (
    <div className={classes["explorer"]} data-open={openId !== undefined}>
      <OperationList operations={operations} />
      <div className={classes["detail"]}>
        {open && <OperationPanel key={`${version} ${open.id}`} operation={open} schemas={schemas} />}
        {!open && (
          <Empty
            title={openId === undefined ? "Choose an operation" : "This version has no such operation"}
            icon={<Braces size={28} aria-hidden />}
          >
            <Text size="sm">
              Requests are sent as you, with your rights. One that can change data asks before it is sent.
            </Text>
          </Empty>
        )}
      </div>
    </div>
  );
}
