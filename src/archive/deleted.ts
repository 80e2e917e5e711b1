// Records that are deleted while an export reads them. The archive has what was read before the deletion.
import { ServerProblem } from "../client/connection.ts";

/** The result of a read of a listed record; undefined if the record does not exist any more. */
export const unlessDeleted = <Result>(read: Promise<Result>): Promise<Result | undefined> =>
  read.catch((problem: unknown) => {
    if (!saysDeleted(problem)) throw problem;
    return undefined;
  });

/** The items that belong to a listed record, until the record does not exist any more. */
export async function* untilDeleted<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item> {
  try {
    yield* items;
  } catch (problem) {
    if (!saysDeleted(problem)) throw problem;
  }
}

/** A proxy may send 404 as well, but without an error of the server. */
const saysDeleted = (problem: unknown): boolean =>
  problem instanceof ServerProblem && problem.error["code"] === 404;

/** The records that still exist, after a read of all of them by their ids was refused. */
export function withoutDeleted<Listed extends { readonly id: number }>(
  records: readonly Listed[],
  problem: unknown,
): Listed[] {
  const unknown = problem instanceof ServerProblem ? problem.error["notFound"] : undefined;
  const ids = new Set<unknown>(Array.isArray(unknown) ? unknown : []);
  const left = records.filter(({ id }) => !ids.has(id));
  if (left.length === records.length) throw problem;
  return left;
}
