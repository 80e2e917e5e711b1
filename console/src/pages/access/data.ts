// The records of the access page, and changes of them.
import { notifications } from "@mantine/notifications";
import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import {
  type ApiKey,
  type Group,
  getApikeys,
  getGroups,
  getProject,
  getSecuritycategories,
  getUsers,
  type SecurityCategory,
  type User,
} from "../../api/generated.ts";
import { allItems } from "../../api/list-pages.ts";
import { useProject } from "../../session/session.ts";

const accountsQuery = (project: string) =>
  queryOptions({
    queryKey: ["access", project, "accounts"],
    queryFn: ({ signal }) =>
      allItems<User>(async (cursor) => (await getUsers(project, { cursor }, { signal })).data),
  });

const keysQuery = (project: string) =>
  queryOptions({
    queryKey: ["access", project, "keys"],
    queryFn: ({ signal }) =>
      allItems<ApiKey>(async (cursor) => (await getApikeys(project, { all: true, cursor }, { signal })).data),
  });

const groupsQuery = (project: string) =>
  queryOptions({
    queryKey: ["access", project, "groups"],
    queryFn: ({ signal }) =>
      allItems<Group>(async (cursor) => (await getGroups(project, { all: true, cursor }, { signal })).data),
  });

const categoriesQuery = (project: string) =>
  queryOptions({
    queryKey: ["access", project, "categories"],
    queryFn: ({ signal }) =>
      allItems<SecurityCategory>(
        async (cursor) => (await getSecuritycategories(project, { cursor }, { signal })).data,
      ),
  });

export const useAccounts = () => useQuery(accountsQuery(useProject()));
export const useKeys = () => useQuery(keysQuery(useProject()));
export const useGroups = () => useQuery(groupsQuery(useProject()));
export const useCategories = () => useQuery(categoriesQuery(useProject()));

export function useProjectSettings() {
  const project = useProject();
  return useQuery({
    queryKey: ["access", project, "settings"],
    queryFn: async ({ signal }) => (await getProject(project, { signal })).data.items[0]!,
  });
}

/** A change of accounts, keys, groups or settings: reads the lists again, and reports the change. */
export function useChange<Input, Result>(options: {
  readonly change: (project: string, input: Input) => Promise<Result>;
  readonly done: (input: Input) => string;
  readonly onDone?: (result: Result, input: Input) => void;
}) {
  const project = useProject();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (input: Input) => options.change(project, input),
    onSuccess: async (result, input) => {
      await queryClient.invalidateQueries({ queryKey: ["access"] });
      notifications.show({ message: options.done(input) });
      options.onDone?.(result, input);
    },
  });
}
