# Runs in the process of a model: unpacks its source package, calls its class `Model`, and sends the outcome.
#
# Reads entries (entries.ts has the format) from standard input: the task, the package, artifacts and files. Writes
# entries to descriptor 3: artifacts of a training, then the outcome. The output of the package is its log. Needs
# only the standard library of Python 3.7 or later. docs/models.md describes packages and their restrictions.
import importlib
import inspect
import json
import os
import resource
import shutil
import signal
import socket
import stat
import sys
import tarfile
import threading
import traceback


class Refused(Exception):
    """The package is not valid; the message says why."""


def main():
    # Closes descriptors that the server inherited from its own parent.
    os.closerange(4, max(map(int, os.listdir("/dev/fd"))) + 1)
    answers = os.fdopen(os.dup(3), "wb")
    os.close(3)
    restrain()
    # The server shows the log while the code runs.
    sys.stdout.reconfigure(line_buffering=True)
    try:
        with os.fdopen(os.dup(0), "rb") as sent:
            task = receive(read_entries(sent))
        with open(os.devnull) as nothing:
            os.dup2(nothing.fileno(), 0)
        outcome = json.dumps({"value": run(task)}, allow_nan=False, default=plain)
        if task["operation"] == "train":
            send_artifacts(task["artifacts"], answers)
    except Refused as refusal:
        print(refusal, file=sys.stderr)
        outcome = json.dumps({"problem": str(refusal)})
    except BaseException as problem:  # Includes SystemExit of the package.
        print_without_own_frames(problem)
        outcome = json.dumps({"problem": summary(problem)})
    sys.stdout.flush()
    sys.stderr.flush()
    with answers:
        write_entry(answers, b"outcome", [outcome.encode()])
    os._exit(0)  # Does not wait for threads of the package.


def restrain():
    """Ends the process with its parent, and lets no program that it starts gain rights."""
    try:
        import ctypes

        prctl = ctypes.CDLL(None).prctl
        prctl(1, signal.SIGKILL)
        prctl(38, 1, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        pass  # Not Linux; the server ends the process in other ways.


def read_entries(stream):
    for head in iter(lambda: stream.read(2), b""):
        name = stream.read(int.from_bytes(head, "big")).decode()
        content = Content(stream)
        yield name, content
        while content.read(65536):
            pass


class Content:
    """The bytes of an entry, as a file that can be read once."""

    def __init__(self, stream):
        self._stream = stream
        self._left = 0
        self._ended = False

    def read(self, size=-1):
        parts = []
        while size != 0 and not self._ended:
            if self._left == 0:
                self._left = int.from_bytes(self._stream.read(4), "big")
                self._ended = self._left == 0
            part = self._stream.read(self._left if size < 0 else min(size, self._left))
            self._left -= len(part)
            size -= len(part) if size > 0 else 0
            parts.append(part)
        return b"".join(parts)


def write_entry(stream, name, chunks):
    stream.write(len(name).to_bytes(2, "big") + name)
    for chunk in chunks:
        for at in range(0, len(chunk), 65536):
            part = chunk[at : at + 65536]
            stream.write(len(part).to_bytes(4, "big") + part)
    stream.write(bytes(4))


def receive(entries):
    """Unpacks what the server sends into the working folder; returns the task."""
    task = json.loads(next(entries)[1].read().decode())
    bound(task["limits"])
    task["code"] = os.path.abspath("code")
    task["artifacts"] = os.path.abspath("artifacts")
    for folder in (task["code"], task["artifacts"]):
        os.mkdir(folder)
    for name, content in entries:
        if name == "package":
            unpack(content, task["code"], task["limits"])
            continue
        path = inside(os.getcwd(), name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "xb") as received:
            shutil.copyfileobj(content, received)
    return task


def bound(limits):
    for kind, value in (
        (resource.RLIMIT_CPU, limits["cpuSeconds"]),
        (resource.RLIMIT_AS, limits["memoryBytes"]),
        (resource.RLIMIT_FSIZE, limits["fileBytes"]),
        (resource.RLIMIT_NOFILE, limits["openFiles"]),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NPROC, threads_of_user() + limits["processes"]),
    ):
        _, most = resource.getrlimit(kind)
        least = value if most == resource.RLIM_INFINITY else min(value, most)
        try:
            resource.setrlimit(kind, (least, least))
        except (ValueError, OSError):
            pass  # The system does not have this limit; the server limits the time in any case.


def threads_of_user():
    """The system counts the threads of a user, not of a run; in a sandbox the user has no others."""
    count = 0
    for name in os.listdir("/proc") if os.path.isdir("/proc") else []:
        try:
            if name.isdigit() and os.stat("/proc/" + name).st_uid == os.getuid():
                count += len(os.listdir("/proc/%s/task" % name))
        except OSError:
            pass  # The process has ended.
    return count


def run(task):
    if task["operation"] == "check":
        threading.Thread(target=int).start()
        return None
    set_environment(task)
    model = load_class(task["code"], task["packageName"])
    artifacts = Artifacts(task["artifacts"], task["operation"] == "train")
    args, data = task["args"], task["data"]
    if data:
        data["files"] = {name: os.path.abspath(path) for name, path in data["files"].items()}
    given = {
        "file_io": artifacts.open,
        "open_artifact": artifacts.open,
        "api_key": task["apiKey"],
        "project": task["project"],
        "data_spec": args.get("data_spec"),
        "data": data,
    }
    if task["operation"] == "train":
        call(model.train, given, args)
        return None
    loaded = call(model.load, given, {}) if hasattr(model, "load") else model()
    if task["operation"] == "load":
        return None
    return [call(loaded.predict, dict(given, instance=one), args) for one in task["instances"]]


def unpack(archive, folder, limits):
    """Unpacks only files and folders, none outside of the folder, and ignores all other attributes."""
    count, size = 0, 0
    try:
        with tarfile.open(fileobj=archive, mode="r|*") as members:
            for member in members:
                count, size = count + 1, size + abs(member.size)
                if count > limits["packageFiles"]:
                    raise Refused("The source package holds more than %d files" % limits["packageFiles"])
                if size > limits["packageBytes"]:
                    raise Refused("The source package unpacks to more than %d bytes" % limits["packageBytes"])
                if member.isdir():
                    continue
                if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE):
                    raise Refused("The source package holds %s, which is not a regular file" % member.name)
                path = inside(folder, member.name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "wb") as unpacked:
                    shutil.copyfileobj(members.extractfile(member), unpacked)
    except (tarfile.TarError, EOFError, OSError) as problem:
        raise Refused("The source package cannot be unpacked: %s" % problem)


def inside(folder, name):
    parts = name.split("/")
    if name.startswith("/") or ".." in parts or "\\" in name or "\0" in name:
        raise Refused("%s would be outside of its folder" % name)
    return os.path.join(folder, *[part for part in parts if part not in ("", ".")])


def load_class(code, name):
    """`<package>/model.py` is at the top of the archive, or in the folder that `sdist` creates."""
    tops = [code] + sorted(entry.path for entry in os.scandir(code) if entry.is_dir())
    for top in tops + [os.path.join(top, "src") for top in tops]:
        for spelling in (name, name.replace("-", "_")):
            if os.path.isfile(os.path.join(top, spelling, "model.py")):
                sys.path.insert(0, top)
                return importlib.import_module(spelling + ".model").Model
    raise Refused("The source package holds no %s/model.py" % name)


class Artifacts:
    """The files of a version: written by `train`, read by `load`."""

    def __init__(self, folder, writable):
        self._folder = folder
        self._writable = writable

    def open(self, name, mode="r", **options):
        path = inside(self._folder, name)
        if set(mode) & set("wax+"):
            if not self._writable:
                raise PermissionError("artifacts are written by train alone: %s" % name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
        return open(path, mode, **options)


def send_artifacts(folder, answers):
    """The package may have replaced the folder by anything: follows no links."""
    try:
        send_folder(os.open(folder, folder_flags), "", answers)
    except OSError as problem:
        raise Refused("The artifacts cannot be read: %s" % problem)


folder_flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


def send_folder(folder, prefix, answers):
    for name in sorted(os.listdir(folder)):
        path = prefix + name
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        if stat.S_ISDIR(mode):
            send_folder(os.open(name, folder_flags, dir_fd=folder), path + "/", answers)
        elif stat.S_ISREG(mode):
            opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=folder)
            with os.fdopen(opened, "rb") as artifact:
                write_entry(answers, os.fsencode("artifacts/" + path), iter(lambda: artifact.read(65536), b""))
        else:
            raise Refused("The artifact %s is neither a file nor a folder" % path)
    os.close(folder)


def call(function, given, args):
    """Passes values of the platform only by name, and values of the caller also by `**kwargs`."""
    parameters = inspect.signature(function).parameters.values()
    names = {one.name for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)}
    takes_all = any(one.kind is one.VAR_KEYWORD for one in parameters)
    passed = {name: value for name, value in args.items() if takes_all or name in names}
    passed.update((name, value) for name, value in given.items() if name in names)
    return function(**passed)


def set_environment(task):
    address = task["platformUrl"]
    if task["platformSocket"]:
        address = forward(task["platformSocket"])
    given = {"BASE_URL": address, "PROJECT": task["project"], "API_KEY": task["apiKey"]}
    os.environ.update(("COGNITE_" + name, value) for name, value in given.items() if value)


def forward(path):
    """Forwards an address of this machine to the server; the process has no other network."""
    listener = socket.create_server(("127.0.0.1", 0)) if hasattr(socket, "create_server") else listen()

    def accept():
        while True:
            client, _ = listener.accept()
            platform = socket.socket(socket.AF_UNIX)
            platform.connect(path)
            for pair in ((client, platform), (platform, client)):
                threading.Thread(target=copy, args=pair, daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return "http://127.0.0.1:%d" % listener.getsockname()[1]


def listen():
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(8)
    return listener


def copy(source, target):
    try:
        while True:
            data = source.recv(65536)
            if not data:
                break
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        source.close()
        target.close()


def plain(value):
    """Converts numbers and arrays of numeric libraries for JSON."""
    for name in ("tolist", "item", "isoformat"):
        if hasattr(value, name):
            return getattr(value, name)()
    raise TypeError("the model has returned a %s, which JSON cannot represent" % type(value).__name__)


def print_without_own_frames(problem):
    frames = problem.__traceback__
    while frames and frames.tb_frame.f_code.co_filename == __file__:
        frames = frames.tb_next
    traceback.print_exception(type(problem), problem, frames)


def summary(problem):
    return "".join(traceback.format_exception_only(type(problem), problem)).strip()[:2000]


main()
