"""The supervisor process: runs the commands of one owner process, and lets none of them outlive the owner.

This is a separate script that is never imported: it starts in milliseconds, is cheap to fork, and knows nothing of
coderelay. `processes.py` and `supervision.py` are the other side of both protocols:

    owner ── control socket ──> supervisor     in: one byte and the descriptors of each command:
                                               its own socket, its output, and a third one if
                                               standard error is collected separately;
                                               out: one byte, once, when it can take commands
    owner <── command socket ─> keeper         in: the request, then one byte for each signal
                                               out: `ended CODE` or `WHAT ERRNO`, one line

The supervisor forks one keeper process for each command. A keeper is a subreaper: it adopts orphans of its command,
so its children are the processes of that command and nothing else. When it has no child left, nothing of the command
is left, however it forked or left its session. The children of a killed keeper go to the supervisor, which kills
them.

The end of either socket means that the owner is gone, or wants the command or the supervisor to end.

The control socket is standard input, the only descriptor that every sandbox leaves open. The arguments are resource
limits for every command, as `name=number`, and mounts that must exist, as `kind=identity=path`.

Commands run as the same user. So our processes must not be traceable, or a command could take their sockets and
answer in their place. Nor may a command stop them: a stopped keeper is killed, and in a process namespace of its own
the supervisor is process 1.
"""

import ctypes
import errno
import marshal
import os
import resource
import select
import signal
import sys
import time
from _socket import MSG_WAITALL, socket  # importing `socket` would take 5 ms more

LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36
KEEPERS_MAY_TAKE = 2.0
KILLING_MAY_TAKE = 1.0
KEYCTL = {"x86_64": 250, "aarch64": 219}
KEYCTL_JOIN_SESSION_KEYRING = 1
READY = b"!"
EVERY_USER = ["0", "0", "4294967295"]
KINDS = ("writable", "readonly")
OF_THE_SANDBOX = ["/dev", "/proc"]

Request = tuple[list[bytes], bytes, dict[bytes, bytes]]  # arguments, folder, environment


def main(arguments: list[str]) -> None:
    prctl(PR_SET_DUMPABLE, 0)
    control = take_control()
    mounts = [each for each in arguments if each.startswith(KINDS)]
    if mounts:
        check_mounts(mounts)
        leave_keyring()
    for limit in arguments:
        if limit not in mounts:
            set_limit(limit)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    control.send(READY)
    Supervisor(control).supervise()


def take_control() -> socket:
    """Take the control socket from standard input, and replace that with /dev/null, which commands inherit."""
    control = socket(fileno=os.dup(0))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return control


def set_limit(limit: str) -> None:
    """Set a resource limit, never above the current one. The kernel counts processes by user, so their number is only
    limited in a user namespace, where all of them are ours."""
    name, _, number = limit.partition("=")
    if name == "RLIMIT_NPROC" and read_file("/proc/self/uid_map").split() == EVERY_USER:
        return
    kind, most = getattr(resource, name), int(number)
    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(kind, (most, most))


def check_mounts(expected: list[str]) -> None:
    """Exit unless the mounts are as expected and nothing else is writable: somebody may have planted a link."""
    found = mounts_here()
    writable = [*OF_THE_SANDBOX]
    for each in expected:
        kind, identity, path = each.split("=", 2)
        if found.get(path) != kind or identity not in ("", identity_of(path)):
            sys.exit(f"{path} was changed while the sandbox was made")
        if kind == "writable":
            writable.append(path.rstrip("/"))
    for path, kind in found.items():
        is_ours = any(path == each or path.startswith(each + "/") for each in writable)
        if kind == "writable" and not is_ours and identity_of(path):
            sys.exit(f"{path} could be written")


def mounts_here() -> dict[str, str]:
    """Whether each mount point is writable. At one path, the topmost mount comes last and counts."""
    found: dict[str, str] = {}
    for line in read_file("/proc/self/mountinfo").rstrip("\n").split("\n"):
        path, options = line.split(" ", 6)[4:6]
        for code, meant in ((r"\040", " "), (r"\011", "\t"), (r"\012", "\n"), (r"\043", "#"), (r"\134", "\\")):
            path = path.replace(code, meant)
        found[path] = "readonly" if "ro" in options.split(",") else "writable"
    return found


def identity_of(path: str) -> str:
    """Device and inode of a path; empty if we cannot access it."""
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return ""
    return f"{found.st_dev}:{found.st_ino}"


def leave_keyring() -> None:
    """Leave the session keyring, whose keys a sandbox would inherit. Does nothing without that system call."""
    number = KEYCTL.get(os.uname().machine)
    if number is not None:
        LIBC.syscall(number, KEYCTL_JOIN_SESSION_KEYRING, None)


class Supervisor:
    """Forks a keeper for each command that arrives, and cleans up after keepers that were killed."""

    def __init__(self, control: socket) -> None:
        self.control = control
        self.alarm = child_alarm()
        self.keepers: set[int] = set()

    def supervise(self) -> None:
        poll = select.poll()
        poll.register(self.control.fileno(), select.POLLIN)
        poll.register(self.alarm, select.POLLIN)
        owned = True
        while owned:
            for descriptor, _ in poll.poll():
                if descriptor == self.alarm:
                    self.reap()
                else:
                    owned = self.admit()
        self.leave()

    def admit(self) -> bool:
        """Take the next command. False when the owner is gone."""
        descriptors = receive_descriptors(self.control)
        if descriptors is None:
            return False
        command, outputs = socket(fileno=descriptors[0]), descriptors[1:]
        try:
            self.fork_keeper(command, outputs)
        except OSError as error:
            reply(command, words("process", error.errno))
        command.close()
        close_all(outputs)
        return True

    def fork_keeper(self, command: socket, outputs: list[int]) -> None:
        keeper = os.fork()
        if keeper:
            self.keepers.add(keeper)
            return
        status = 1
        try:
            self.control.close()  # otherwise the owner would not notice the death of the supervisor
            os.close(self.alarm)
            keep(command, outputs)
            status = 0
        finally:
            os._exit(status)

    def reap(self) -> bool:
        """Wait for ended children. False when there is no child left.

        A keeper that ends cleanly leaves nothing behind. After any other death, orphans may have come to us, and
        killing one of them may bring its children.
        """
        silence(self.alarm)
        strangers = False
        try:
            while (ended := os.waitpid(-1, os.WNOHANG | os.WUNTRACED)) != (0, 0):
                pid, status = ended
                if os.WIFSTOPPED(status):  # the command stopped its keeper, which could not end it any more
                    os.kill(pid, signal.SIGKILL)
                    continue
                strangers |= status != 0 or pid not in self.keepers
                self.keepers.discard(pid)
        except ChildProcessError:
            return False
        if strangers:
            kill_children(spared=self.keepers)
        return True

    def leave(self) -> None:
        """The owner is gone, and every keeper has noticed that by itself. Kill what the keepers leave.

        The time is bounded: a child that even SIGKILL cannot end at once must not delay an owner that is closing.
        """
        for grace in (KEEPERS_MAY_TAKE, KILLING_MAY_TAKE):
            if not self.children_after(grace):
                return
            self.keepers.clear()
            kill_children()

    def children_after(self, grace: float) -> bool:
        """Whether there are still children after `grace` seconds."""
        poll = select.poll()
        poll.register(self.alarm, select.POLLIN)
        deadline = time.monotonic() + grace
        while self.reap():
            left = deadline - time.monotonic()
            if left <= 0:
                return True
            poll.poll(left * 1000)
        return False


def keep(command: socket, outputs: list[int]) -> None:
    """The keeper: run one command to its end, and then end everything that it started."""
    request = receive_request(command)
    if request is None:
        return
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    alarm = child_alarm()
    failure, failure_writer = os.pipe()
    keeper = os.getpid()
    try:
        leader = os.fork()
    except OSError as error:
        reply(command, words("process", error.errno))
        return
    if leader == 0:
        lead(request, keeper, outputs, failure_writer)
    close_all([*outputs, failure_writer])

    exit_code = watch(command, alarm, leader)
    signal_group(leader, signal.SIGKILL)
    end_children()
    if exit_code is not None:
        failed = os.read(failure, 64)  # empty after a successful exec, which closed it
        reply(command, failed or words("ended", exit_code))


def watch(command: socket, alarm: int, leader: int) -> int | None:
    """Forward signals until the leader ends (returns its exit code) or the owner is gone (returns None)."""
    poll = select.poll()
    poll.register(command.fileno(), select.POLLIN)
    poll.register(alarm, select.POLLIN)
    while True:
        for descriptor, _ in poll.poll():
            if descriptor == alarm:
                silence(alarm)
                while (ended := os.waitpid(-1, os.WNOHANG)) != (0, 0):
                    if ended[0] == leader:
                        return os.waitstatus_to_exitcode(ended[1])
                continue
            signals = receive(command, 16)
            if not signals:
                return None
            for number in signals:
                signal_group(leader, number)


def lead(request: Request, keeper: int, outputs: list[int], failure: int) -> None:
    """Become the command, as the leader of a new session. Standard input is ours, /dev/null. Never returns."""
    argv, cwd, env = request
    what, number = "program", errno.EINVAL
    try:
        os.setsid()
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != keeper:
            return  # the keeper died before we could ask to die with it
        # Ignored signals stay ignored after exec. Python ignores two, and a shell that starts us in the background
        # two more.
        for each in range(1, 32):
            if each not in (signal.SIGKILL, signal.SIGSTOP):
                signal.signal(each, signal.SIG_DFL)
        os.dup2(outputs[0], 1)
        os.dup2(outputs[-1], 2)
        what = "folder"
        os.chdir(cwd)
        what = "program"
        execute(argv, env)
    except OSError as error:
        number = error.errno
    finally:
        os.write(failure, words(what, number))
        os._exit(127)


def execute(argv: list[bytes], env: dict[bytes, bytes]) -> None:
    """Like os.execvpe, which would import `warnings` for every command."""
    program = argv[0]
    if b"/" in program:
        os.execve(program, argv, env)
    refused = FileNotFoundError(errno.ENOENT, "not on the path")
    for folder in env.get(b"PATH", os.defpath.encode()).split(b":"):
        try:
            os.execve((folder or b".") + b"/" + program, argv, env)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            refused = error
    raise refused


def end_children() -> None:
    """Kill until no child is left. Orphans of a killed child become our children and are next."""
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG) != (0, 0):
                continue
            if not kill_children():
                return
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def kill_children(spared: set[int] | frozenset[int] = frozenset()) -> bool:
    """Kill all children but `spared`. False if there is none that we may kill: one that became another user stays."""
    own_group, killed = os.getpgrp(), False
    for pid in children():
        if pid in spared:
            continue
        try:
            if (group := os.getpgid(pid)) != own_group:
                os.killpg(group, signal.SIGKILL)
            os.kill(pid, signal.SIGKILL)
            killed = True
        except (ProcessLookupError, PermissionError):
            continue
    return killed


def children() -> list[int]:
    """Ids of our child processes. Empty if /proc is missing, or belongs to another process namespace."""
    own = str(os.getpid())
    if not os.path.islink("/proc/self") or os.readlink("/proc/self") != own:
        return []
    try:
        # One fast read: otherwise a command that forks and exits without pause would stay ahead of us.
        return [int(pid) for pid in read_file(f"/proc/{own}/task/{own}/children").split()]
    except FileNotFoundError:  # a kernel may be built without this file
        return [int(name) for name in os.listdir("/proc") if name.isdigit() and parent_of(name) == own]


def parent_of(pid: str) -> str:
    try:
        stat = read_file(f"/proc/{pid}/stat")
    except OSError:
        return ""
    # The name, in parentheses, may itself contain spaces and parentheses.
    return stat[stat.rindex(")") + 2 :].split(None, 2)[1]


def read_file(path: str) -> str:
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


def signal_group(leader: int, number: int) -> None:
    try:
        os.killpg(leader, number)
    except (ProcessLookupError, PermissionError):
        return


def receive_descriptors(control: socket) -> list[int] | None:
    try:
        byte, ancillary, _, _ = control.recvmsg(1, 64)
    except ConnectionError:
        return None
    if not byte:
        return None
    descriptors = memoryview(ancillary[0][2]).cast("i").tolist()
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)
    return descriptors


def close_all(descriptors: list[int]) -> None:
    for each in descriptors:
        os.close(each)


def receive_request(command: socket) -> Request | None:
    """The request, or None if the owner was gone before it was complete."""
    length = int.from_bytes(receive(command, 4, MSG_WAITALL), "big")
    body = receive(command, length, MSG_WAITALL)
    return marshal.loads(body) if body and len(body) == length else None


def receive(command: socket, size: int, flags: int = 0) -> bytes:
    try:
        return command.recv(size, flags)
    except ConnectionError:
        return b""


def words(what: str, number: int | None) -> bytes:
    return f"{what} {number}\n".encode()


def reply(command: socket, message: bytes) -> None:
    """Send the only reply, then close the socket: its end marks the end of the message."""
    try:
        command.sendall(message)
    except ConnectionError:
        return
    command.close()


def child_alarm() -> int:
    """A descriptor that becomes readable when a child ends."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    # Sandlock answers system calls such as readlink from another process. If a child ended meanwhile, they would fail
    # with EINTR, which Python does not expect of them. With this setting, the kernel restarts them.
    signal.siginterrupt(signal.SIGCHLD, False)
    return reader


def silence(alarm: int) -> None:
    try:
        os.read(alarm, 512)
    except BlockingIOError:
        return


def prctl(option: int, value: int) -> None:
    """Does nothing where prctl does not exist (macOS): there, only process groups are ended."""
    if hasattr(LIBC, "prctl"):
        LIBC.prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    main(sys.argv[1:])
