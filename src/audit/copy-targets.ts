// Where copies of audit records are sent: a file of JSON lines, and a receiver of syslog (RFC 5424).
import { createSocket } from "node:dgram";
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { open } from "node:fs/promises";
import { connect } from "node:net";
import { hostname } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { limits } from "../limits.ts";
import type { AuditRecord } from "./schema.ts";

/** A record and the URL name of its project. */
export type CopiedRecord = AuditRecord & { readonly project: string };

export interface CopyTarget {
  readonly kind: "file" | "syslog";
  /** The catalog stores the progress under this name, so another address is another target. */
  readonly name: string;
  /** Rejects unless all records have arrived. */
  send(records: readonly CopiedRecord[]): Promise<void>;
}

/** Appends a JSON line for each record. The file is opened each time, so that it may be moved away. */
export const fileTarget = (path: string): CopyTarget => ({
  ...{ kind: "file", name: `file ${path}` },
  async send(records) {
    const file = await open(path, "a+", 0o600);
    try {
      const { size } = await file.stat();
      const { buffer } = await file.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1));
      // A full disk may have cut a line off.
      const isCut = size > 0 && buffer.toString() !== "\n";
      const lines = records.map((record) => `${JSON.stringify(record)}\n`);
      await file.appendFile(`${isCut ? "\n" : ""}${lines.join("")}`);
      await file.sync();
    } finally {
      await file.close();
    }
  },
});

export interface SyslogAddress {
  readonly protocol: "udp" | "tcp";
  readonly host: string;
  readonly port: number;
}

/** Parses `udp://host:514` or `tcp://host:601`; undefined if it is neither. */
export function parseSyslogAddress(text: string): SyslogAddress | undefined {
  const [, protocol, host, port] = /^(udp|tcp):\/\/(\[[\da-f:.]+\]|[\w.-]+):(\d{1,5})$/i.exec(text) ?? [];
  if (host === undefined || !(Number(port) > 0 && Number(port) <= 65_535)) return undefined;
  const bare = host.replaceAll(/[[\]]/g, "");
  return { protocol: protocol!.toLowerCase() as "udp" | "tcp", host: bare, port: Number(port) };
}

export function syslogTarget(address: SyslogAddress): CopyTarget {
  const { protocol, host, port } = address;
  return {
    ...{ kind: "syslog", name: `syslog ${protocol}://${host}:${port}` },
    send(records) {
      return protocol === "udp"
        ? sendDatagrams(records.map(datagramOf), address)
        : sendFrames(records.map(syslogMessage), address);
    },
  };
}

/** The facility "log audit" of RFC 5424. */
const facility = 13;
const [warning, informational] = [4, 6];

function syslogMessage(record: CopiedRecord & { readonly isShortened?: true }): Buffer {
  const severity = record.result === "done" ? informational : warning;
  const time = new Date(record.endedTime ?? record.time).toISOString();
  const header = `<${facility * 8 + severity}>1 ${time} ${hostname()} millrace ${process.pid} audit -`;
  return Buffer.from(`${header} ${JSON.stringify(record)}`);
}

/** A message that fits a datagram: if it is too long, without the ids, and long strings are cut off. */
function datagramOf(record: CopiedRecord): Buffer {
  const whole = syslogMessage(record);
  if (whole.length <= limits.auditDatagramBytesMax) return whole;
  const members = Object.entries(record).map(([name, value]) => [
    name,
    typeof value === "string" ? value.slice(0, limits.auditIdLengthMax) : value,
  ]);
  const cut = Object.fromEntries(members) as CopiedRecord;
  return syslogMessage({ ...cut, ids: [], isShortened: true });
}

async function sendDatagrams(messages: readonly Buffer[], { host, port }: SyslogAddress): Promise<void> {
  const { address, family } = await lookup(host, { order: "ipv4first" });
  const socket = createSocket(family === 6 ? "udp6" : "udp4");
  let failure: Error | undefined;
  socket.on("error", (problem) => {
    failure ??= problem;
  });
  try {
    socket.connect(port, address);
    await once(socket, "connect");
    for (const [index, message] of messages.entries()) {
      // Receivers have small buffers.
      if (index % limits.auditDatagramsAtOnce === limits.auditDatagramsAtOnce - 1)
        await pause(limits.auditDatagramPauseMs);
      await new Promise<void>((resolve, reject) => {
        socket.send(message, (problem) => (problem ? reject(problem) : resolve()));
      });
      if (failure) throw failure;
    }
  } finally {
    socket.close();
  }
}

/**
 * One connection for all messages, each with its length before it (RFC 6587, 3.4.1). Syslog confirms nothing,
 * so the records count as sent when the receiver has closed the connection after the last one.
 */
function sendFrames(messages: readonly Buffer[], { host, port }: SyslogAddress): Promise<void> {
  const frames = messages.flatMap((message) => [Buffer.from(`${message.length} `), message]);
  return new Promise((resolve, reject) => {
    const socket = connect(port, host);
    socket.setTimeout(limits.auditSyslogMsMax, () => socket.destroy(new Error("no reply from the receiver")));
    socket.once("error", reject);
    socket.once("close", (hasFailed) => (hasFailed ? undefined : resolve()));
    socket.resume();
    socket.end(Buffer.concat(frames));
  });
}
