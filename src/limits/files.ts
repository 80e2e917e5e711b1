// Limits of files, uploads and the disk.
import { limit } from "./limit.ts";

export const filesLimits = {
  directoriesListMax: limit(1_000, "items", "Directories in one response. Each takes a query of its own."),
  fileNameLengthMax: limit(256, "characters", "The name of a file."),
  directoryLengthMax: limit(512, "characters", "The directory of a file."),
  fileSourceLengthMax: limit(128, "characters", "The source and the source id of a file."),
  fileTypeLengthMax: limit(64, "characters", "The type of a file."),
  fileLinksMax: limit(1_000, "items", "Assets that one file is linked to, and its tags."),
  fileBytesMax: limit(2 ** 40, "bytes", "The size of one file. A larger one is refused with 413."),
  uploadLinkMs: limit(30_000, "ms", "How long the link of a non-resumable upload accepts a file."),
  resumableLinkMs: limit(7 * 24 * 3_600_000, "ms", "How long the link of a resumable upload accepts bytes."),
  downloadLinkMs: limit(5 * 60_000, "ms", "How long a download link is valid."),
  uploadSweepMs: limit(60_000, "ms", "How often the bytes of expired uploads are deleted."),
  diskFreeBytesMin: limit(64 * 2 ** 20, "bytes", "Free disk below which only reads and deletes work."),
  diskFreePercentMin: limit(5, "%", "The same on a small disk, of its size. The smaller figure counts."),
  diskReserveBytes: limit(
    8 * 2 ** 20,
    "bytes",
    "A file whose deletion frees space on a full disk, for deletes.",
  ),
  diskReservePercent: limit(4, "%", "The same on a small disk, of its size. The smaller figure counts."),
  diskFilesMin: limit(
    100,
    "files",
    "The number of further files for which the disk must have space. Otherwise it counts as full.",
  ),
  diskCheckMs: limit(1_000, "ms", "How often the free disk is read; more often during an upload."),
  uploadFreeBytesMin: limit(
    2 ** 30,
    "bytes",
    "Free disk below which the server accepts no bytes of files, so that files leave space for other data.",
  ),
  uploadFreePercentMin: limit(10, "%", "The same on a small disk, of its size. The smaller figure counts."),
  uploadBytesPerDiskCheck: limit(8 * 2 ** 20, "bytes", "Bytes of an upload between checks of the free disk."),
  refusedBytesReadMax: limit(
    64 * 2 ** 20,
    "bytes",
    "Bytes of a file that the server reads after it refused the file, so that the client sees the response.",
  ),
  unfinishedUploadsPercentMax: limit(
    50,
    "%",
    "The part of the disk, as free without them, that all unfinished uploads may hold together.",
  ),
  uploadMsMax: limit(24 * 3_600_000, "ms", "The time one request may take to send the bytes of a file."),
  uploadIdleMsMax: limit(120_000, "ms", "A file transfer is aborted when it moves no bytes for this time."),
} as const;
