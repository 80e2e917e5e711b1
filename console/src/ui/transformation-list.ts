// All transformations of the project, for their page, forms and the command palette. There are few of them.
import { queryOptions } from "@tanstack/react-query";
import { getTransformations, type Transformation } from "../api/generated.ts";
import { allItems } from "../api/list-pages.ts";

const pageSize = 1_000;

export const transformationsQuery = (project: string) =>
  queryOptions({
    queryKey: ["transformations", project, "list"],
    queryFn: ({ signal }) =>
      allItems(
        async (cursor) => (await getTransformations(project, { cursor, limit: pageSize }, { signal })).data,
      ),
  });

/** Whether the name or the external id contains the text. */
export const isCalled = ({ name, externalId }: Transformation, text: string): boolean =>
  `${name}\n${externalId}`.toLowerCase().includes(text.trim().toLowerCase());
