// Creates a model.
import { Button } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { postAnalyticsModels } from "../../api/generated.ts";
import { useProject } from "../../session/session.ts";
import { EditDialog } from "../../ui/edit-dialog.tsx";
import { DescribedInputs, describedOf, newDescribed } from "./described-form.tsx";
import { useModelsChange } from "./models-data.ts";

export function NewModelButton() {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button size="xs" leftSection={<Plus size={14} aria-hidden />} onClick={() => setIsOpen(true)}>
        New model
      </Button>
      {isOpen && <NewModel onClose={() => setIsOpen(false)} />}
    </>
  );
}

function NewModel({ onClose }: { onClose(): void }) {
  const project = useProject();
  const navigate = useNavigate({ from: "/models" });
  const [fields, setFields] = useState(newDescribed);
  const { mutate, isPending, error } = useModelsChange(async () => {
    const { id } = await postAnalyticsModels(project, describedOf(fields));
    onClose();
    await navigate({ search: { model: id } });
  });
  return (
    <EditDialog
      title="New model"
      action="Create the model"
      {...{ isPending, problem: error, onClose }}
      onSave={() => mutate()}
    >
      <DescribedInputs fields={fields} isNew onChange={(part) => setFields({ ...fields, ...part })} />
    </EditDialog>
  );
}
