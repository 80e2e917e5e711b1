// A simulated disk: it executes the operations of the journal, and knows for every time which content a power
// cut then could leave.
//
// The model is as unkind as POSIX allows. Only a sync that succeeded makes the bytes and the length of a file
// last, and only a sync of the folder its names. Of everything younger any part may be there: writes torn,
// lost or reordered sector by sector, lengths without their bytes, names that come or go out of order. A
// failed sync leaves any of these, and a later sync does not bring back the loss of the failed one.
import { constants } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import {
  type JournalFile,
  type JournalFiles,
  realFiles,
} from "../../src/storage/embedded-points/segment-files.ts";
import { folderInMemory } from "./folder.ts";

type Bytes = Uint8Array<ArrayBuffer>;

type Change =
  | { readonly kind: "write"; readonly at: number; readonly bytes: Bytes }
  | { readonly kind: "truncate"; readonly length: number };

interface Inode {
  /** Every content that may be on the disk once the changes under way are forgotten. */
  possible: readonly Bytes[];
  pending: Change[];
}

type Names = ReadonlyMap<string, Inode>;
type NameChange = (names: Map<string, Inode>) => void;

/** The files on the disk after a power cut, by name. */
export type Wreck = ReadonlyMap<string, Bytes>;

export class SimulatedDisk implements JournalFiles {
  readonly folder = folderInMemory();
  /** Calls so far that write or sync. */
  steps = 0;
  /** The process is killed before this step: the call and all later ones do nothing and never return. */
  killAt = Infinity;
  /** Resolves when the process is stopped. */
  readonly killed: Promise<void>;
  #kill: () => void = () => undefined;
  /** These steps fail, a write with half of its bytes in the file. */
  failsAt: (step: number) => boolean = () => false;
  /** Called and waited for when a step is done. */
  onStep: () => Promise<void> | void = () => undefined;
  readonly #sectorBytes: number;
  #names: Names = new Map();
  #pendingNames: NameChange[] = [];
  readonly #opened: JournalFile[] = [];

  constructor(sectorBytes: number) {
    this.#sectorBytes = sectorBytes;
    this.killed = new Promise((resolve) => {
      this.#kill = resolve;
    });
  }

  async open(path: string, flags: number): Promise<JournalFile> {
    const isFolder = path === this.folder;
    if ((flags & constants.O_CREAT) !== 0) await this.#step(() => this.#create(basename(path)));
    const file = isFolder ? undefined : await realFiles.open(path, flags);
    if (file !== undefined) this.#opened.push(file);
    const inode = () => this.#liveNames().get(basename(path))!;
    return {
      writev: async (pieces, at) => {
        const bytes = Uint8Array.from(Buffer.concat(pieces));
        const write = async (part: Bytes) => {
          inode().pending.push({ kind: "write", at, bytes: part });
          await file!.writev([part], at);
        };
        await this.#step(
          () => write(bytes),
          () => write(bytes.slice(0, bytes.length / 2)),
        );
        return { bytesWritten: bytes.length };
      },
      truncate: (length) =>
        this.#step(async () => {
          inode().pending.push({ kind: "truncate", length });
          await file!.truncate(length);
        }),
      datasync: () => (isFolder ? this.#syncFolder() : this.#syncFile(inode())),
      close: async () => file?.close(),
    };
  }

  unlink(path: string): Promise<void> {
    return this.#step(async () => {
      this.#pendingNames.push((names) => void names.delete(basename(path)));
      await realFiles.unlink(path);
    });
  }

  rename(from: string, to: string): Promise<void> {
    return this.#step(async () => {
      const inode = this.#liveNames().get(basename(from))!;
      this.#pendingNames.push((names) => {
        names.delete(basename(from));
        names.set(basename(to), inode);
      });
      await realFiles.rename(from, to);
    });
  }

  /** Everything that the disk may hold after a power cut now. */
  *wrecks(): Generator<Wreck> {
    const pending = this.#pendingNames;
    const choices = selectionsOf(pending.length).map((chosen) => pending.filter((_, i) => chosen(i)));
    for (const chosen of choices) {
      const names = new Map(this.#names);
      for (const change of chosen) change(names);
      yield* this.#contents([...names]);
    }
  }

  /** One file in each of its states, the others as complete and as incomplete as they can be. */
  *#contents(names: readonly (readonly [string, Inode])[]): Generator<Wreck> {
    const states = names.map(([name, inode]) => [name, this.#statesOf(inode)] as const);
    for (const rest of [0, -1]) {
      const usual = new Map(states.map(([name, all]) => [name, all.at(rest)!]));
      yield usual;
      for (const [name, all] of states)
        for (const state of all.slice(1, -1)) yield new Map([...usual, [name, state]]);
    }
  }

  /** The least complete state first, the most complete last. */
  #statesOf({ possible, pending }: Inode): Bytes[] {
    const partly = pending.flatMap((change, index) =>
      partsOf(change, this.#sectorBytes).map((part) => pending.toSpliced(index, 1, ...part)),
    );
    const selected = selectionsOf(pending.length).map((chosen) => pending.filter((_, i) => chosen(i)));
    const [none, ...some] = selected;
    const ways = [none!, ...partly, ...some.slice(0, -1), pending];
    return distinct(possible.flatMap((bytes) => ways.map((changes) => changes.reduce(applied, bytes))));
  }

  async #step(
    work: () => Promise<void>,
    failing: () => Promise<void> = async () => undefined,
  ): Promise<void> {
    const step = this.steps++;
    if (step >= this.killAt) {
      for (const file of this.#opened) await file.close();
      this.#kill();
      await new Promise(() => undefined);
    }
    if (this.failsAt(step)) {
      await failing();
      throw new Error(`EIO at step ${step}`);
    }
    await work();
    await this.onStep();
  }

  async #create(name: string): Promise<void> {
    const old = this.#liveNames().get(name);
    if (old !== undefined) old.pending.push({ kind: "truncate", length: 0 });
    else {
      const inode: Inode = { possible: [new Uint8Array(0)], pending: [] };
      this.#pendingNames.push((names) => void names.set(name, inode));
    }
  }

  #syncFile(inode: Inode): Promise<void> {
    const keep = async () => {
      const { pending } = inode;
      inode.possible = distinct(inode.possible.map((bytes) => pending.reduce(applied, bytes)));
      inode.pending = [];
    };
    const lose = async () => {
      inode.possible = this.#statesOf(inode);
      inode.pending = [];
    };
    return this.#step(keep, lose);
  }

  #syncFolder(): Promise<void> {
    return this.#step(async () => {
      this.#names = this.#liveNames();
      this.#pendingNames = [];
    });
  }

  #liveNames(): Map<string, Inode> {
    const names = new Map(this.#names);
    for (const change of this.#pendingNames) change(names);
    return names;
  }
}

/** Gives the folder the files that a power cut left, and no others. */
export async function putWreck(wreck: Wreck, folder: string): Promise<void> {
  await rm(folder, { recursive: true });
  await mkdir(folder);
  for (const [name, bytes] of wreck) await writeFile(join(folder, name), bytes);
}

/** None, each alone, all but one, each beginning, all: every order in which few things can come about. */
function selectionsOf(count: number): ((index: number) => boolean)[] {
  const each = Array.from({ length: count }, (_, index) => index);
  return [
    () => false,
    ...each.map((only) => (index: number) => index === only),
    ...each.map((end) => (index: number) => index < end),
    ...each.map((lost) => (index: number) => index !== lost),
    () => true,
  ];
}

/**
 * A write that lacks some sectors: the first or last ones, each alone, or all but its length.
 */
function partsOf(change: Change, sectorBytes: number): Change[][] {
  if (change.kind === "truncate") return [];
  const { at, bytes } = change;
  const part = (from: number, to: number): Change => ({
    kind: "write",
    at: at + from,
    bytes: bytes.slice(from, to),
  });
  const lengthAlone: Change = { kind: "write", at: at + bytes.length, bytes: new Uint8Array(0) };
  const parts: Change[][] = [[lengthAlone]];
  for (let from = 0; from < bytes.length; from += sectorBytes) {
    const to = Math.min(from + sectorBytes, bytes.length);
    parts.push([part(0, from)], [part(from, bytes.length)], [part(0, from), lengthAlone]);
    parts.push([part(0, from), part(to, bytes.length)], [part(from, to)]);
  }
  return parts;
}

function applied(bytes: Bytes, change: Change): Bytes {
  const length = change.kind === "truncate" ? change.length : Math.max(bytes.length, endOf(change));
  const changed = new Uint8Array(length);
  changed.set(bytes.subarray(0, length));
  if (change.kind === "write") changed.set(change.bytes, change.at);
  return changed;
}

const endOf = ({ at, bytes }: Change & { kind: "write" }): number => at + bytes.length;

function distinct(all: readonly Bytes[]): Bytes[] {
  const byContent = new Map(all.map((bytes) => [Buffer.from(bytes).toString("latin1"), bytes]));
  return [...byContent.values()];
}
