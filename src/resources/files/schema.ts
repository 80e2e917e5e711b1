// What files ask of the catalog: their records, uploads under way, and blobs that have to go.
import type { Column, Stored, Table } from "../../storage/catalog.ts";
import { type CommonFields, commonColumns } from "../common/schema.ts";

/** Bytes that come by a link, and what they are called when they are downloaded. */
export interface FileContent extends Stored {
  readonly name: string;
  /** The blob with the bytes; absent until they have all come. */
  readonly content?: number;
  readonly contentBytes?: number;
  /** The type of the bytes, as a download announces it. */
  readonly contentType?: string;
  /** Milliseconds since 1970. */
  readonly uploadedTime?: number;
  readonly createdTime: number;
  readonly lastUpdatedTime: number;
}

/** A stored file, in the form of all code except the JSON shapes. */
export interface StoredFile extends FileContent, CommonFields {
  /** Empty when there is none; unique in the project together with the name. */
  readonly directory: string;
  readonly source?: string;
  readonly sourceId?: string;
  readonly fileType?: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly assetIds?: readonly number[];
  readonly tags?: readonly string[];
}

const required = (type: Column["type"]): Column => ({ type, optional: false });
const optional = (type: Column["type"]): Column => ({ type, optional: true });

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

/** Bytes that belong to a record of another room, which decides who may have them. */
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

/** The members of a file that a client describes when it starts an upload. */
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

/** The permission to send the bytes of a file, and how far that has come; its id names the blob. */
export interface Upload extends Stored {
  /** Or of the attachment. */
  readonly fileId: number;
  readonly isAttachment?: boolean;
  /** The bytes may come in pieces, and go on where they broke off. */
  readonly resumable: boolean;
  /** They may take the place of bytes that the file has. */
  readonly overwrite: boolean;
  /** Describes a file that existed before, from the moment its bytes are these. */
  readonly replacement?: NewFile;
  /** Bytes that are on disk and have been answered for. */
  readonly received: number;
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
    contentType: optional("text"),
    expiresTime: required("integer"),
  },
  indexes: [["expiresTime"], ["fileId"]],
  unique: [],
  wordsOf: [],
};

/** A blob that no record names any more and that may still be there; the id is the blob's own. */
export type BlobRemoval = Stored;

export const removalTable: Table<BlobRemoval> = {
  name: "file_removals",
  belongsTo: "project",
  columns: { id: required("integer") },
  indexes: [],
  unique: [],
  wordsOf: [],
};
