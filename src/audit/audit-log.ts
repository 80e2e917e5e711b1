// Writes the audit log. An operation that changes rights, keys or settings, deletes or exports is on disk
// before it begins, and its record when it has ended. Records of other operations are written in groups.
//
// One transaction at a time writes a project's log. It takes all that waits for it. Servers of one catalog
// write one chain, because the transactions of a project run one after another.
import { randomUUID } from "node:crypto";
import { fail } from "../errors.ts";
import { LruCache } from "../lib/lru-cache.ts";
import type { System } from "../lib/system.ts";
import { limits } from "../limits.ts";
import { and, everything, type Filter, oneOf } from "../query/filter.ts";
import type { CatalogReader, CatalogWriter, ProjectCatalog, ProjectId } from "../storage/catalog.ts";
import { chained, emptyHead } from "./chain.ts";
import {
  type AuditHead,
  type AuditIntent,
  type AuditKind,
  auditHeadTable,
  auditIntentTable,
  auditRecordTable,
  type BegunOperation,
  type EndedOperation,
} from "./schema.ts";

/** Which operations are recorded: `MILLRACE_AUDIT`. */
export const auditModes = ["changes", "writes", "all", "off"] as const;
export type AuditMode = (typeof auditModes)[number];

/** How an operation ended. */
export type Ending = Pick<EndedOperation, "result" | "status" | "error"> & {
  /** Of the records that it created. */
  readonly ids?: readonly string[];
};

export interface AuditParts {
  readonly catalog: ProjectCatalog;
  readonly system: System;
  readonly mode: AuditMode;
  /** The owner of operations in progress: the lease of the server. */
  readonly owner: () => number;
  /** The project that records operations outside of projects, by its URL name. */
  readonly ownProject: string;
  readonly projectNamed: (urlName: string) => Promise<ProjectId | undefined>;
  /** Receives failures to write records, which are then tried again. */
  readonly report: (problem: unknown) => void;
}

/** Something to write: an operation that begins, or a record. */
interface Waiting {
  readonly intent?: AuditIntent;
  readonly record?: EndedOperation;
  /** The intent that the record replaces. */
  readonly ends?: string;
  /** Stays if it cannot be written: the operation has happened. */
  readonly stays: boolean;
  readonly written: PromiseWithResolvers<void>;
}

interface Queue {
  waiting: Waiting[];
  writing: Promise<void> | undefined;
  timer: NodeJS.Timeout | undefined;
}

/** An operation that is on disk and has not ended. */
export interface OpenOperation {
  /** Stores the record. Tries again later if it cannot: until then the result is unknown on disk. */
  end(ending: Ending): Promise<void>;
}

export class AuditLog {
  readonly #parts: AuditParts;
  readonly #queues = new Map<ProjectId, Queue>();
  readonly #projects = new LruCache<string, ProjectId>(limits.auditProjectsKnown);

  constructor(parts: AuditParts) {
    this.#parts = parts;
  }

  /** Whether operations of this kind are recorded. */
  covers(kind: AuditKind): boolean {
    const { mode } = this.#parts;
    if (mode === "off") return false;
    if (kind === "read") return mode === "all";
    return kind !== "write" || mode !== "changes";
  }

  /** Records that wait to be written; more than a few while the catalog accepts no writes. */
  get waiting(): number {
    return [...this.#queues.values()].reduce((sum, { waiting }) => sum + waiting.length, 0);
  }

  get nowMs(): number {
    return this.#parts.system.nowMs();
  }

  /** The project of this URL name, else the one that records operations outside of projects. */
  async projectOf(urlName: string | undefined): Promise<ProjectId | undefined> {
    const found = urlName === undefined ? undefined : await this.#projectNamed(urlName);
    return found ?? this.#projectNamed(this.#parts.ownProject);
  }

  /** Stores that an operation begins; rejects if it cannot, and then the operation must not happen. */
  async begin(projectId: ProjectId, operation: BegunOperation): Promise<OpenOperation> {
    const intent = { intent: randomUUID(), owner: this.#parts.owner(), operation };
    await this.#write(projectId, { intent, stays: false });
    return {
      end: (ending) =>
        this.#write(projectId, {
          record: this.#ended(operation, ending),
          ends: intent.intent,
          stays: true,
        }),
    };
  }

  /** Stores the record of an operation that has ended; rejects if it cannot. */
  append(projectId: ProjectId, operation: BegunOperation, ending: Ending): Promise<void> {
    return this.#write(projectId, { record: this.#ended(operation, ending), stays: false });
  }

  /** Stores the record of an operation that has happened; tries again later if it cannot. */
  keep(projectId: ProjectId, operation: BegunOperation, ending: Ending): Promise<void> {
    return this.#write(projectId, { record: this.#ended(operation, ending), stays: true });
  }

  /** Stores the record within `limits.auditGroupMs`, together with others. */
  collect(projectId: ProjectId, operation: BegunOperation, ending: Ending): void {
    const queue = this.#queueOf(projectId);
    const record = this.#ended(operation, ending);
    queue.waiting.push({ record, stays: true, written: Promise.withResolvers() });
    this.#writeLater(projectId, queue, limits.auditGroupMs);
  }

  /** Refuses (503) an operation whose record cannot be stored, because too many others wait. */
  requireSpace(): void {
    if (this.waiting < limits.auditWaitingMax) return;
    throw fail("audit-not-stored", { waiting: this.waiting });
  }

  /** Records operations of servers that have ended; their result is unknown. */
  async recordAbandoned(projectId: ProjectId, abandoned: Filter): Promise<void> {
    const { catalog } = this.#parts;
    const isAny = await catalog.read(projectId, (tx) => tx.count(auditIntentTable, abandoned));
    if (isAny === 0) return;
    await catalog.write(projectId, async (tx) => {
      for (;;) {
        const intents = await tx.find(auditIntentTable, {
          filter: abandoned,
          order: [{ field: "intent", direction: "ascending" }],
          page: { limit: limits.auditRecordsPerWrite },
        });
        if (intents.length === 0) return;
        const records = intents
          .map(({ operation }): EndedOperation => ({ ...operation, result: "unknown" }))
          .sort((a, b) => a.time - b.time);
        await removeIntents(tx, abandoned, intents);
        await appendRecords(tx, records);
      }
    });
  }

  /** Writes the waiting records, as far as the catalog accepts them. */
  async close(): Promise<void> {
    for (const [projectId, queue] of this.#queues) {
      clearTimeout(queue.timer);
      await queue.writing;
      if (queue.waiting.length > 0) await this.#drain(projectId, queue);
      clearTimeout(queue.timer);
    }
  }

  /** Projects keep their URL names. */
  async #projectNamed(urlName: string): Promise<ProjectId | undefined> {
    const known = this.#projects.get(urlName);
    if (known !== undefined) return known;
    const found = await this.#parts.projectNamed(urlName);
    if (found !== undefined) this.#projects.set(urlName, found);
    return found;
  }

  #ended(operation: BegunOperation, { ids = [], ...ending }: Ending): EndedOperation {
    const all = [...new Set([...operation.ids, ...ids])];
    const idsCount = operation.idsCount || all.length;
    const endedTime = this.#parts.system.nowMs();
    return { ...operation, ...ending, ids: all.slice(0, limits.auditIdsMax), idsCount, endedTime };
  }

  #queueOf(projectId: ProjectId): Queue {
    const known = this.#queues.get(projectId);
    if (known) return known;
    const queue: Queue = { waiting: [], writing: undefined, timer: undefined };
    this.#queues.set(projectId, queue);
    return queue;
  }

  #write(projectId: ProjectId, one: Omit<Waiting, "written">): Promise<void> {
    const queue = this.#queueOf(projectId);
    const written = Promise.withResolvers<void>();
    queue.waiting.push({ ...one, written });
    queue.writing ??= this.#drain(projectId, queue);
    return written.promise;
  }

  #writeLater(projectId: ProjectId, queue: Queue, ms: number): void {
    if (queue.timer !== undefined || queue.writing) return;
    const write = () => {
      queue.timer = undefined;
      if (queue.waiting.length > 0) queue.writing ??= this.#drain(projectId, queue);
    };
    queue.timer = setTimeout(write, ms).unref();
  }

  /** Writes until none waits, or until the catalog refuses; then it tries again later. */
  async #drain(projectId: ProjectId, queue: Queue): Promise<void> {
    let isRefused = false;
    while (queue.waiting.length > 0 && !isRefused) {
      const taken = queue.waiting.splice(0, limits.auditRecordsPerWrite);
      try {
        await this.#parts.catalog.write(projectId, (tx) => store(tx, taken));
        for (const { written } of taken) written.resolve();
      } catch (problem) {
        const isOneOfThem = taken.length > 1 && (await this.#accepts(projectId));
        if (isOneOfThem) isRefused = await this.#storeEach(projectId, queue, taken);
        else {
          const kept = this.#keep(taken, problem);
          queue.waiting.unshift(...kept);
          isRefused = kept.length > 0;
        }
      }
    }
    queue.writing = undefined;
    if (queue.waiting.length > 0) this.#writeLater(projectId, queue, limits.auditRetryMs);
  }

  /** Whether the catalog writes anything: then a refused group has a record that it cannot store. */
  async #accepts(projectId: ProjectId): Promise<boolean> {
    try {
      await this.#parts.catalog.write(projectId, async (tx) => tx.put(auditHeadTable, [await readHead(tx)]));
      return true;
    } catch {
      return false;
    }
  }

  /** Writes each alone. Those that the catalog refuses go to the end of the queue. Returns whether any do. */
  async #storeEach(projectId: ProjectId, queue: Queue, taken: readonly Waiting[]): Promise<boolean> {
    const kept: Waiting[] = [];
    for (const one of taken)
      try {
        await this.#parts.catalog.write(projectId, (tx) => store(tx, [one]));
        one.written.resolve();
      } catch (problem) {
        kept.push(...this.#keep([one], problem));
      }
    queue.waiting.push(...kept);
    return kept.length > 0;
  }

  /** Refuses operations that have not begun. Returns the other records, which must still be written. */
  #keep(taken: readonly Waiting[], problem: unknown): readonly Waiting[] {
    const staying = taken.filter(({ stays }) => stays);
    for (const { stays, written } of taken) {
      if (stays) written.resolve();
      else written.reject(problem);
    }
    if (staying.length > 0) this.#parts.report(problem);
    return staying;
  }
}

async function store(tx: CatalogWriter, taken: readonly Waiting[]): Promise<void> {
  const intents = taken.flatMap(({ intent }) => intent ?? []);
  const ended = taken.flatMap(({ ends }) => ends ?? []);
  const records = taken.flatMap(({ record }) => record ?? []);
  if (intents.length > 0) await tx.put(auditIntentTable, intents);
  if (ended.length > 0) await tx.remove(auditIntentTable, oneOf("intent", ended));
  if (records.length > 0) await appendRecords(tx, records);
}

/** Adds records to the chain of the project. */
export async function appendRecords(tx: CatalogWriter, operations: readonly EndedOperation[]): Promise<void> {
  const { head, records } = chained(await readHead(tx), operations);
  await tx.put(auditRecordTable, records);
  await tx.put(auditHeadTable, [head]);
}

export async function readHead(tx: CatalogReader): Promise<AuditHead> {
  const order = [{ field: "name", direction: "ascending" }] as const;
  const [head] = await tx.find(auditHeadTable, { filter: everything, order, page: { limit: 1 } });
  return head ?? emptyHead;
}

const removeIntents = (tx: CatalogWriter, abandoned: Filter, intents: readonly AuditIntent[]) => {
  const ids = intents.map(({ intent }) => intent);
  return tx.remove(auditIntentTable, and(abandoned, oneOf("intent", ids)));
};
