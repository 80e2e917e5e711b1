// Forms for a new database and a new table.
import { TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { postRawByDatabaseCreate, postRawCreate } from "../../api/generated.ts";
import { useProject } from "../../session/session.ts";
import { EditDialog } from "../../ui/edit-dialog.tsx";
import { useRawChange } from "./raw-data.ts";

export function NewDatabase({ onClose }: { onClose(): void }) {
  const project = useProject();
  const navigate = useNavigate();
  return (
    <NameForm
      title="New database"
      label="Name of the database"
      create={(dbName) => postRawCreate(project, { items: [{ dbName }] })}
      onCreated={(database) => void navigate({ to: "/raw", search: { database } })}
      onClose={onClose}
    />
  );
}

export function NewTable({ database, onClose }: { database: string; onClose(): void }) {
  const project = useProject();
  return (
    <NameForm
      title={`New table in ${database}`}
      label="Name of the table"
      create={(tableName) => postRawByDatabaseCreate(project, database, { items: [{ tableName }] })}
      onCreated={() => undefined}
      onClose={onClose}
    />
  );
}

interface NameFormProps {
  readonly title: string;
  readonly label: string;
  create(name: string): Promise<unknown>;
  onCreated(name: string): void;
  onClose(): void;
}

function NameForm({ title, label, create, onCreated, onClose }: NameFormProps) {
  const [name, setName] = useState("");
  const change = useRawChange(create, () => {
    onCreated(name);
    onClose();
  });
  return (
    <EditDialog
      title={title}
      action="Create"
      isComplete={name !== ""}
      {...{ isPending: change.isPending, problem: change.error, onClose }}
      onSave={() => change.mutate(name)}
    >
      <TextInput
        label={label}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        data-autofocus
        required
      />
    </EditDialog>
  );
}
