// The tables of files, attachments, uploads under way, and pending removals of blobs.
import type { Stored, Table, TableColumn } from "../../storage/catalog.ts";
import { type CommonFields, commonColumns } from "../common/schema.ts";

/** Bytes with a download name. */
export interface FileContent extends Stored {
  readonly name: string;
  /** The blob of the bytes; absent until the upload is complete. */
  readonly content?: number;
  readonly contentBytes?: number;
  /** The content type of downloads. */
  readonly contentType?: string;
  /** When the upload was complete, in milliseconds since 1970. */
  readonly uploadedTime?: number;
  readonly createdTime: number;
  readonly lastUpdatedTime: number;
}

/** A file record. */
export interface StoredFile extends FileContent, CommonFields {
  /** Empty if there is none; `directory` and `name` together are unique in the project. */
  readonly directory: string;
  readonly source?: string;
  readonly sourceId?: string;
  readonly fileType?: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly assetIds?: readonly number[];
  readonly tags?: readonly string[];
}

const required = (type: TableColumn["type"]): TableColumn => ({ type, optional: false });
const optional = (type: TableColumn["type"]): TableColumn => ({ type, optional: true });

export const fileTable: Table<StoredFile> = {
  name: "files",
  belongsTo: "project",
  columns: {
    id: required("integer"),
    name: required("text"),
    directory: required("text"),
    source: optional("text"),
    sourceId: optional("text"),
    fileType: optional("text"),
    metadata: required("json"),
    assetIds: optional("json"),
    tags: optional("json"),
    ...commonColumns,
    content: optional("integer"),
    contentBytes: optional("integer"),
    contentType: optional("text"),
    uploadedTime: optional("integer"),
    createdTime: required("integer"),
    lastUpdatedTime: required("integer"),
  },
  indexes: [["name"], ["content"]],
  unique: [["directory", "name"], ["source", "sourceId"], ["externalId"]],
  wordsOf: ["name"],
  links: [{ column: "assetIds", to: "assets", onDelete: "clear" }],
};

/** Bytes of a record of another resource, whose module checks the rights. */
export type Attachment = FileContent;

export const attachmentTable: Table<Attachment> = {
  name: "file_attachments",
  belongsTo: "project",
  columns: {
    id: required("integer"),
    name: required("text"),
    content: optional("integer"),
    contentBytes: optional("integer"),
    contentType: optional("text"),
    uploadedTime: optional("integer"),
    createdTime: required("integer"),
    lastUpdatedTime: required("integer"),
  },
  indexes: [["content"]],
  unique: [],
  wordsOf: [],
};

/** The members of a file that a client sets when it starts an upload. */
export type NewFile = Pick<
  StoredFile,
  | keyof CommonFields
  | "name"
  | "directory"
  | "source"
  | "sourceId"
  | "fileType"
  | "metadata"
  | "assetIds"
  | "tags"
>;

/** An upload under way. Its id is the id of the blob that it writes. */
export interface Upload extends Stored {
  /** The id of the file or attachment. */
  readonly fileId: number;
  readonly isAttachment?: boolean;
  /** The client may send the bytes in chunks, and resume after a broken connection. */
  readonly resumable: boolean;
  /** The bytes may replace existing bytes. */
  readonly overwrite: boolean;
  /** The new metadata of an existing file, applied when the upload is complete. */
  readonly replacement?: NewFile;
  /** The number of bytes on disk that were acknowledged to the client. */
  readonly received: number;
  /** The size of the whole file, if a chunk has stated it. */
  readonly total?: number;
  readonly contentType?: string;
  readonly expiresTime: number;
}

export const uploadTable: Table<Upload> = {
  name: "file_uploads",
  belongsTo: "project",
  columns: {
    id: required("integer"),
    fileId: required("integer"),
    isAttachment: optional("boolean"),
    resumable: required("boolean"),
    overwrite: required("boolean"),
    replacement: optional("json"),
    received: required("integer"),
    total: optional("integer"),
    contentType: optional("text"),
    expiresTime: required("integer"),
  },
  indexes: [["expiresTime"], ["fileId"]],
  unique: [],
  wordsOf: [],
};

/** A blob that no record names and that may still exist. The id is the id of the blob. */
export type BlobRemoval = Stored;

export const removalTable: Table<BlobRemoval> = {
  name: "file_removals",
  belongsTo: "project",
  columns: { id: required("integer") },
  indexes: [],
  unique: [],
  wordsOf: [],
};
