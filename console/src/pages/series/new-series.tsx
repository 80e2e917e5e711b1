// Adds a series without points, such as one for a connector or for values of a laboratory.
import { Button, Select } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { postTimeseries } from "../../api/generated.ts";
import { mayDo } from "../../session/rights.ts";
import { useProject, useSession } from "../../session/session.ts";
import { EditDialog } from "../../ui/edit-dialog.tsx";
import { metadataOf } from "../../ui/metadata-fields.tsx";
import { type SeriesKind, seriesKinds } from "./search.ts";
import { emptyFields, type Fields, SeriesFields } from "./series-form.tsx";
import { kindFilters } from "./series-list.ts";

export function NewSeriesButton() {
  const [isOpen, setIsOpen] = useState(false);
  if (!mayDo(useSession(), "timeSeriesAcl", "WRITE")) return null;
  return (
    <>
      <Button
        size="xs"
        variant="default"
        leftSection={<Plus size={14} aria-hidden />}
        onClick={() => setIsOpen(true)}
      >
        New series
      </Button>
      {isOpen && <NewSeries onClose={() => setIsOpen(false)} />}
    </>
  );
}

function NewSeries({ onClose }: { onClose(): void }) {
  const project = useProject();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const [fields, setFields] = useState(emptyFields);
  const [kind, setKind] = useState<SeriesKind>("numbers");
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => postTimeseries(project, { items: [itemOf(fields, kind)] }),
    onSuccess: async ({ data }) => {
      await queryClient.invalidateQueries({ queryKey: ["series", project] });
      onClose();
      await navigate({ to: "/series/$id", params: { id: data.items[0]!.id } });
    },
  });
  return (
    <EditDialog
      title="New series"
      action="Create the series"
      size="lg"
      isComplete={fields.name.trim() !== ""}
      {...{ isPending, problem: error, onClose }}
      onSave={mutate}
    >
      <SeriesFields fields={fields} onChange={(part) => setFields({ ...fields, ...part })} />
      <Select
        label="Kind"
        description="Cannot be changed later. Steps keep their value until the next point"
        data={seriesKinds}
        value={kind}
        onChange={(value) => setKind(value ?? "numbers")}
        allowDeselect={false}
      />
    </EditDialog>
  );
}

function itemOf({ name, assets, pairs, ...texts }: Fields, kind: SeriesKind) {
  const filled = Object.entries(texts).filter(([, text]) => text !== "");
  const metadata = metadataOf(pairs);
  const [assetId] = assets;
  return {
    ...{ name: name.trim(), ...kindFilters[kind] },
    ...Object.fromEntries(filled),
    ...(assetId !== undefined && { assetId }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}
