// Copies audit records to a file or to syslog, in their order. The catalog notes how far each target is, so
// that the copies continue after a target was away and after a restart.
import { limits } from "../limits.ts";
import { between, equals } from "../query/filter.ts";
import type { CatalogReader, ProjectCatalog, ProjectId } from "../storage/catalog.ts";
import { readHead } from "./audit-log.ts";
import type { CopyTarget } from "./copy-targets.ts";
import { auditCopyTable, auditRecordTable } from "./schema.ts";

interface CopiedProject {
  readonly id: ProjectId;
  readonly urlName: string;
}

interface CopiesParts {
  readonly catalog: ProjectCatalog;
  readonly targets: readonly CopyTarget[];
  readonly projects: () => Promise<readonly CopiedProject[]>;
  /** Called before each group: whether this server still makes the copies, and does not stop. */
  readonly continues: () => Promise<boolean>;
  /** Receives the failures of a target, the first one after it has worked. */
  readonly report: (target: CopyTarget, problem: unknown) => void;
}

/** The state of one target, for the metrics. */
export interface CopyState {
  readonly isFailing: boolean;
  /** Records that are not copied yet. */
  readonly waiting: number;
}

export class AuditCopies {
  readonly #parts: CopiesParts;
  readonly #states = new Map<CopyTarget["kind"], CopyState>();

  constructor(parts: CopiesParts) {
    this.#parts = parts;
    for (const { kind } of parts.targets) this.#states.set(kind, { isFailing: false, waiting: 0 });
  }

  get states(): ReadonlyMap<CopyTarget["kind"], CopyState> {
    return this.#states;
  }

  /** Sends each target the records that it lacks. A record may arrive twice, and none is left out. */
  async copy(): Promise<void> {
    const projects = await this.#parts.projects();
    for (const target of this.#parts.targets) {
      let problem: unknown;
      for (const project of projects)
        try {
          await this.#copyProject(target, project);
        } catch (found) {
          problem = found;
        }
      await this.#note(target, projects, problem);
    }
  }

  async #copyProject(target: CopyTarget, { id, urlName }: CopiedProject): Promise<void> {
    const { catalog, continues } = this.#parts;
    while (await continues()) {
      const records = await catalog.read(id, async (tx) =>
        tx.find(auditRecordTable, {
          filter: between("seq", { from: { value: await copiedTo(tx, target), inclusive: false } }),
          order: [{ field: "seq", direction: "ascending" }],
          page: { limit: limits.auditRecordsPerWrite },
        }),
      );
      const last = records.at(-1);
      if (!last) return;
      await target.send(records.map((record) => ({ project: urlName, ...record })));
      await catalog.write(id, (tx) => tx.put(auditCopyTable, [{ target: target.name, seq: last.seq }]));
    }
  }

  async #note(target: CopyTarget, projects: readonly CopiedProject[], problem: unknown): Promise<void> {
    const isFailing = problem !== undefined;
    const before = this.#states.get(target.kind);
    if (isFailing && !before?.isFailing) this.#parts.report(target, problem);
    this.#states.set(target.kind, { isFailing, waiting: before?.waiting ?? 0 });
    let waiting = 0;
    for (const { id } of isFailing ? projects : [])
      waiting += await this.#parts.catalog.read(
        id,
        async (tx) => (await readHead(tx)).seq - (await copiedTo(tx, target)),
      );
    this.#states.set(target.kind, { isFailing, waiting });
  }
}

/** The newest record that the target has; 0 if it has none. */
async function copiedTo(tx: CatalogReader, { name }: CopyTarget): Promise<number> {
  const [found] = await tx.find(auditCopyTable, {
    filter: equals("target", name),
    order: [{ field: "target", direction: "ascending" }],
    page: { limit: 1 },
  });
  return found?.seq ?? 0;
}
