// Security categories: time series that only members of all their categories can read.
import { ActionIcon, Button, Group, Text, TextInput } from "@mantine/core";
import { Plus, Trash2 } from "lucide-react";
import { type FormEvent, useState } from "react";
import {
  deleteSecuritycategoriesByCategoryId,
  postSecuritycategories,
  type SecurityCategory,
} from "../../api/generated.ts";
import { Confirm, Refusal } from "../../ui/confirm.tsx";
import { Empty, Failure, Loading } from "../../ui/page-states.tsx";
import { type TableColumn, VirtualTable } from "../../ui/virtual-table.tsx";
import classes from "./access.module.css";
import { useCategories, useChange, useGroups } from "./data.ts";

export function CategoriesTab() {
  const categories = useCategories();
  const [deleted, setDeleted] = useState<SecurityCategory>();
  const columns = useColumns(setDeleted);
  if (categories.isPending) return <Loading what="the security categories" />;
  if (categories.isError)
    return <Failure problem={categories.error} onRetry={() => void categories.refetch()} />;
  return (
    <div className={classes["table"]}>
      <Text size="sm" c="var(--text-quiet)" maw={720}>
        A time series with security categories can be read only by members of all of them, whatever else their
        groups grant. Groups make their members members of categories, in their rights.
      </Text>
      <NewCategory />
      <VirtualTable
        label="Security categories"
        columns={columns}
        rows={categories.data}
        rowKey={({ id }) => id}
        empty={<Empty title="There are no security categories">Most projects need none.</Empty>}
      />
      {deleted && <DeleteCategory category={deleted} onClose={() => setDeleted(undefined)} />}
    </div>
  );
}

function useColumns(onDelete: (category: SecurityCategory) => void): TableColumn<SecurityCategory>[] {
  const groups = useGroups().data ?? [];
  const membersOf = (id: number) =>
    groups
      .filter(({ capabilities }) =>
        capabilities.some(({ securityCategoriesAcl: acl }) => {
          const covers = acl?.scope.all !== undefined || acl?.scope.idscope?.ids.includes(String(id));
          return acl?.actions.includes("MEMBEROF") && covers;
        }),
      )
      .map(({ name }) => name)
      .join(", ");
  return [
    { key: "name", label: "Name", width: "minmax(120px, 2fr)", cell: ({ name }) => name },
    {
      key: "groups",
      label: "Groups of members",
      width: "minmax(100px, 3fr)",
      cell: ({ id }) => membersOf(id),
    },
    { key: "id", label: "Id", width: "170px", isOptional: true, cell: ({ id }) => id },
    {
      ...{ key: "actions", label: "", width: "36px" },
      cell: (category) => (
        <ActionIcon
          variant="subtle"
          color="red"
          aria-label={`Delete ${category.name}`}
          onClick={() => onDelete(category)}
        >
          <Trash2 size={16} aria-hidden />
        </ActionIcon>
      ),
    },
  ];
}

function NewCategory() {
  const [name, setName] = useState("");
  const create = useChange({
    change: (project, item: string) => postSecuritycategories(project, { items: [{ name: item }] }),
    done: (item) => `Created the security category ${item}.`,
    onDone: () => setName(""),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate(name.trim());
  };
  return (
    <form onSubmit={submit}>
      <Group gap="xs" align="flex-end">
        <TextInput
          aria-label="Name of the new category"
          placeholder="Name of a new category"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          maxLength={255}
        />
        <Button
          type="submit"
          leftSection={<Plus size={15} aria-hidden />}
          loading={create.isPending}
          disabled={name.trim() === ""}
        >
          Create
        </Button>
      </Group>
      <Refusal problem={create.error} />
    </form>
  );
}

function DeleteCategory({ category, onClose }: { category: SecurityCategory; onClose(): void }) {
  const remove = useChange({
    change: (project, id: number) => deleteSecuritycategoriesByCategoryId(project, id),
    done: () => `Deleted the security category ${category.name}.`,
    onDone: onClose,
  });
  return (
    <Confirm
      title={`Delete the security category ${category.name}?`}
      action="Delete the category"
      isPending={remove.isPending}
      problem={remove.error}
      onConfirm={() => remove.mutate(category.id)}
      onClose={onClose}
    >
      Its time series stay, and stay hidden: only members of all categories can read them afterwards.
    </Confirm>
  );
}
