// Opens the backups that the settings choose.
import { BackupHistory } from "./backup/backup-history.ts";
import type { BackupPlan } from "./backup/backup-plan.ts";
import { Backups, type BackupsOptions, outsideOfFolder, refuseNested } from "./backup/backups.ts";
import { Increments, type IncrementsOptions } from "./backup/increments.ts";
import { ScheduledBackups } from "./backup/scheduled-backups.ts";
import type { Settings } from "./config.ts";
import { StartRefused } from "./data-folder.ts";
import { isCopyable } from "./storage/points.ts";

/** Throws `StartRefused` if the backups of the settings are not possible. */
export async function openBackups(
  { data, catalogUrl, points, blobs, backups: plan, s3 }: Settings,
  parts: BackupParts,
  opened: AsyncDisposableStack,
): Promise<{ readonly backups: Backups; readonly scheduled?: ScheduledBackups }> {
  const refusal = outsideOfFolder({ catalogUrl, points, blobs });
  if (plan && refusal !== undefined) throw new StartRefused(`MILLRACE_BACKUP_TO is not possible: ${refusal}`);
  if (plan) refuseNested(data, plan.place);
  const history = plan && (await BackupHistory.open(data, plan.place));
  const increments = openIncrements({ data, plan, s3 }, parts);
  const backups = new Backups({ data, refusal, plan, history, increments, s3, ...parts });
  opened.defer(() => backups.stop());
  if (increments) opened.defer(() => increments.stop());
  await backups.clean();
  await increments?.clean();
  if (!plan || !history) return { backups };
  const { system, log } = parts;
  return {
    backups,
    scheduled: new ScheduledBackups({ plan, backups, increments, history, s3, system, log }),
  };
}

type BackupParts = Omit<BackupsOptions, "data" | "refusal" | "plan" | "history" | "increments" | "s3">;

function openIncrements(
  { plan, ...place }: Pick<IncrementsOptions, "data" | "s3"> & { readonly plan: BackupPlan | undefined },
  { stores, ...parts }: BackupParts,
): Increments | undefined {
  const { catalog, points } = stores;
  const { journalSeconds } = plan ?? {};
  if (!plan || journalSeconds === undefined || !isCopyable(points)) return undefined;
  return new Increments({ ...place, plan: { ...plan, journalSeconds }, catalog, points, ...parts });
}
