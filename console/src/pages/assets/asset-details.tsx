// The fields, the metadata and the types of an asset, and its children.
import { Badge, Card, Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type Asset, getAssetsChildren } from "../../api/generated.ts";
import { timeText } from "../../lib/format.ts";
import { useProject } from "../../session/session.ts";
import { Facts } from "../../ui/facts.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { Section } from "./section.tsx";

const childrenShown = 12;

export function AssetDetails({ asset }: { asset: Asset }) {
  const { metadata, types } = asset;
  const source = [asset.source, asset.sourceId].filter((part) => part !== undefined).join(" · ");
  return (
    <>
      <Children asset={asset} />
      {types.map(({ id, name, fields }) => (
        <Section key={id} title={name} note="type">
          <Facts facts={fields.map((field) => ({ label: field.name, value: String(field.value) }))} />
          {fields.length === 0 && <Quiet>No values are set.</Quiet>}
        </Section>
      ))}
      {Object.keys(metadata).length > 0 && (
        <Section title="Metadata">
          <Facts facts={Object.entries(metadata).map(([label, value]) => ({ label, value }))} />
        </Section>
      )}
      <Card>
        <Facts
          facts={[
            { label: "Id", value: asset.id },
            { label: "External id", value: asset.externalId },
            { label: "Source", value: source },
            { label: "Labels", value: labelsOf(asset) },
            { label: "Created", value: timeText(asset.createdTime) },
            { label: "Changed", value: timeText(asset.lastUpdatedTime) },
          ]}
        />
      </Card>
    </>
  );
}

function labelsOf({ labels = [] }: Asset) {
  if (labels.length === 0) return undefined;
  return (
    <Group gap={4}>
      {labels.map((label) => (
        <Badge key={label} variant="default" tt="none" size="sm">
          {label}
        </Badge>
      ))}
    </Group>
  );
}

function Children({ asset }: { asset: Asset }) {
  const project = useProject();
  const { data } = useQuery({
    queryKey: ["assets", project, "children", asset.id],
    queryFn: async ({ signal }) =>
      (await getAssetsChildren(project, { parentId: asset.id, limit: childrenShown }, { signal })).data,
  });
  if (data === undefined || data.items.length === 0) return null;
  return (
    <Section title="Children">
      <Group gap="4px 12px">
        {data.items.map(({ id, name, description }) => (
          <TextLink key={id} to="/assets/$id" params={{ id }} {...(description && { title: description })}>
            {name}
          </TextLink>
        ))}
        {data.nextCursor !== undefined && <Quiet>and more, in the tree</Quiet>}
      </Group>
    </Section>
  );
}

const Quiet = ({ children }: { children: string }) => (
  <Text size="sm" c="var(--text-quiet)">
    {children}
  </Text>
);
