// The seccomp filter of model processes: a BPF program that refuses system calls no model needs.
//
// Most escapes from the Linux kernel used these calls. The filter also refuses calls that are newer than the
// table, so that a new kernel adds no unreviewed call.

type Machine = "x64" | "arm64";

/** `AUDIT_ARCH_X86_64` and `AUDIT_ARCH_AARCH64` of linux/audit.h. */
const auditArch: Readonly<Record<Machine, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };

const lastKnownCall = 450;

const clone: CallNumbers = [56, 220];
const clone3: CallNumbers = [435, 435];
const ioctl: CallNumbers = [16, 29];
const socket: CallNumbers = [41, 198];

/** The number on x64 and on arm64; undefined where the call does not exist. */
type CallNumbers = readonly [number, number?];

const refusedCalls: Readonly<Record<string, CallNumbers>> = {
  // Mounts and the root of the file system.
  ...{ chroot: [161, 51], fsconfig: [431, 431], fsmount: [432, 432], fsopen: [430, 430], fspick: [433, 433] },
  ...{ mount: [165, 40], mount_setattr: [442, 442], move_mount: [429, 429], open_tree: [428, 428] },
  ...{ pivot_root: [155, 41], umount2: [166, 39], quotactl: [179, 60], quotactl_fd: [443, 443] },
  ...{
    name_to_handle_at: [303, 264],
    open_by_handle_at: [304, 265],
    swapoff: [168, 225],
    swapon: [167, 224],
  },
  // Namespaces.
  ...{ setns: [308, 268], unshare: [272, 97] },
  // Calls that inspect or change other processes.
  ...{ kcmp: [312, 272], pidfd_getfd: [438, 438], process_madvise: [440, 440], ptrace: [101, 117] },
  ...{ process_vm_readv: [310, 270], process_vm_writev: [311, 271] },
  ...{ migrate_pages: [256, 238], move_pages: [279, 239] },
  // Parts of the kernel with a large attack surface.
  ...{ bpf: [321, 280], fanotify_init: [300, 262], perf_event_open: [298, 241], userfaultfd: [323, 282] },
  ...{ io_uring_enter: [426, 426], io_uring_register: [427, 427], io_uring_setup: [425, 425] },
  ...{ add_key: [248, 217], keyctl: [250, 219], request_key: [249, 218] },
  ...{ modify_ldt: [154], personality: [135, 92], lookup_dcookie: [212, 18], nfsservctl: [180, 42] },
  ...{ _sysctl: [156], sysfs: [139], uselib: [134], ustat: [136], vserver: [236] },
  // The machine itself.
  ...{
    acct: [163, 89],
    ioperm: [173],
    iopl: [172],
    reboot: [169, 142],
    syslog: [103, 116],
    vhangup: [153, 58],
  },
  ...{ create_module: [174], delete_module: [176, 106], finit_module: [313, 273], init_module: [175, 105] },
  ...{ get_kernel_syms: [177], query_module: [178], kexec_file_load: [320, 294], kexec_load: [246, 104] },
  ...{ adjtimex: [159, 171], clock_adjtime: [305, 266], clock_settime: [227, 112], settimeofday: [164, 170] },
  ...{ setdomainname: [171, 162], sethostname: [170, 161] },
  // Memory that neither the size of the folder nor the address space bounds.
  ...{ memfd_create: [319, 279], memfd_secret: [447, 447] },
  ...{ msgget: [68, 186], semget: [64, 190], shmget: [29, 194] },
};

/** Flags of `clone` that make a namespace: CLONE_NEWNS, CGROUP, UTS, IPC, USER, PID and NET. */
const namespaceFlags = 0x7e020000;

/** TIOCSTI and TIOCLINUX, which type into a terminal. */
const refusedIoctls = [0x5412, 0x541c] as const;

/** AF_UNIX, AF_INET and AF_INET6. */
const socketFamilies = [1, 2, 10] as const;

const allow = 0x7fff0000;
const killProcess = 0x80000000;
const refuse = (errno: number) => 0x00050000 + errno;
const errnos = { EPERM: 1, ENOSYS: 38, EAFNOSUPPORT: 97 } as const;

/** The program for `bwrap --seccomp`; undefined for a processor that this table does not know. */
export function seccompFilter(arch: string = process.arch): Uint8Array | undefined {
  if (arch !== "x64" && arch !== "arm64") return undefined;
  const numberOf = (call: CallNumbers) => call[arch === "x64" ? 0 : 1];
  const refused = Object.values(refusedCalls)
    .map(numberOf)
    .filter((number) => number !== undefined);
  return programOf([
    load(archOffset),
    ...unless(jumpIfEqual, auditArch[arch], killProcess),
    load(numberOffset),
    // The numbers of the x32 interface are above all others.
    ...when(jumpIfGreater, lastKnownCall, refuse(errnos.ENOSYS)),
    // Its flags are in memory, where no filter can read them. The C library falls back to `clone`.
    ...when(jumpIfEqual, numberOf(clone3)!, refuse(errnos.ENOSYS)),
    ...refused.flatMap((number) => when(jumpIfEqual, number, refuse(errnos.EPERM))),
    ...forCall(numberOf(clone)!, [
      load(argumentOffset(0)),
      ...when(jumpIfAnyBit, namespaceFlags, refuse(errnos.EPERM)),
    ]),
    ...forCall(numberOf(ioctl)!, [
      load(argumentOffset(1)),
      ...refusedIoctls.flatMap((request) => when(jumpIfEqual, request, refuse(errnos.EPERM))),
    ]),
    ...forCall(numberOf(socket)!, [
      load(argumentOffset(0)),
      ...socketFamilies.flatMap((family) => when(jumpIfEqual, family, allow)),
      answer(refuse(errnos.EAFNOSUPPORT)),
    ]),
    answer(allow),
  ]);
}

/**
 * Offsets in `struct seccomp_data`. The low half of an argument is first: both machines are little-endian.
 */
const numberOffset = 0;
const archOffset = 4;
const argumentOffset = (index: number) => 16 + 8 * index;

/** `struct sock_filter` of linux/filter.h. */
interface Instruction {
  readonly code: number;
  readonly ifTrue?: number;
  readonly ifFalse?: number;
  readonly value: number;
}

const jumpIfEqual = 0x15;
const jumpIfGreater = 0x25;
const jumpIfAnyBit = 0x45;

const load = (offset: number): Instruction => ({ code: 0x20, value: offset });
const answer = (action: number): Instruction => ({ code: 0x06, value: action });

const when = (jump: number, value: number, action: number): Instruction[] => [
  { code: jump, ifFalse: 1, value },
  answer(action),
];

const unless = (jump: number, value: number, action: number): Instruction[] => [
  { code: jump, ifTrue: 1, value },
  answer(action),
];

/** The body applies to this system call only; it allows any case that it does not return for. */
const forCall = (number: number, body: readonly Instruction[]): Instruction[] => [
  { code: jumpIfEqual, ifFalse: body.length + 1, value: number },
  ...body,
  answer(allow),
];

function programOf(instructions: readonly Instruction[]): Uint8Array {
  const bytes = Buffer.alloc(instructions.length * 8);
  instructions.forEach(({ code, ifTrue = 0, ifFalse = 0, value }, index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(value, index * 8 + 4);
  });
  return bytes;
}
