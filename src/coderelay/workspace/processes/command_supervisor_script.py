"""The supervisor process: runs the commands of one owner process, and lets none of them outlive the owner.

This is a separate script that is never imported: it starts in milliseconds, is cheap to fork, and knows nothing of
coderelay but `command_subreaper.py`, its other half. `command_runner.py` and `command_supervisor_handle.py` are the
other side of both protocols:

    owner ── control socket ──> supervisor     in: one byte and the descriptors of each command:
                                               its own socket, its output, and a third one if
                                               standard error is collected separately;
                                               out: one byte, once, when it can take commands
    owner <── command socket ─> subreaper      in: the request, then one byte for each signal
                                               out: `ended CODE` or `WHAT ERRNO`, one line

The supervisor forks one process for each command, its subreaper, which adopts the orphans of the command: so its
children are the processes of that command and nothing else. When it has no child left, nothing of the command is
left, however it forked or left its session. The children of a killed subreaper go to the supervisor, which kills
them.

The end of either socket means that the owner is gone, or wants the command or the supervisor to end.

The control socket is standard input, the only descriptor that every sandbox leaves open. The arguments are resource
limits for every command, as `name=number`, and mounts that must exist, as `kind=identity=path`.

Commands run as the same user. So our processes must not be traceable (ptrace); otherwise a command could take over
their sockets and answer in their place. Nor may a command stop them: a stopped subreaper is killed, and in a process
namespace of its own the supervisor is process 1.
"""

import os
import resource
import select
import signal
import sys
import time
from _socket import socket  # importing `socket` would take 5 ms more

TYPE_CHECKING = False
if TYPE_CHECKING:
    from coderelay.workspace.processes import command_subreaper
else:  # an isolated interpreter does not look beside the script
    sys.path.append(os.path.dirname(__file__))
    import command_subreaper

    sys.path.pop()

PR_SET_DUMPABLE = 4
SUBREAPERS_MAY_TAKE = 2.0
KILLING_MAY_TAKE = 1.0
KEYCTL = {"x86_64": 250, "aarch64": 219}
KEYCTL_JOIN_SESSION_KEYRING = 1
READY = b"!"
EVERY_USER = ["0", "0", "4294967295"]
KINDS = ("writable", "readonly")
OF_THE_SANDBOX = ["/dev", "/proc"]


def main(arguments: list[str]) -> None:
    command_subreaper.prctl(PR_SET_DUMPABLE, 0)
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
    command_subreaper.prctl(command_subreaper.PR_SET_CHILD_SUBREAPER, 1)
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
    if name == "RLIMIT_NPROC" and command_subreaper.read_file("/proc/self/uid_map").split() == EVERY_USER:
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
    for line in command_subreaper.read_file("/proc/self/mountinfo").rstrip("\n").split("\n"):
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
        command_subreaper.LIBC.syscall(number, KEYCTL_JOIN_SESSION_KEYRING, None)


class Supervisor:
    """Forks a subreaper for each command that arrives, and cleans up after subreapers that were killed."""

    def __init__(self, control: socket) -> None:
        self.control = control
        self.alarm = command_subreaper.child_alarm()
        self.subreapers: set[int] = set()

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
            self.fork_subreaper(command, outputs)
        except OSError as error:
            command_subreaper.reply(command, command_subreaper.words("process", error.errno))
        command.close()
        command_subreaper.close_all(outputs)
        return True

    def fork_subreaper(self, command: socket, outputs: list[int]) -> None:
        pid = os.fork()
        if pid:
            self.subreapers.add(pid)
            return
        status = 1
        try:
            self.control.close()  # otherwise the owner would not notice the death of the supervisor
            os.close(self.alarm)
            command_subreaper.run_to_end(command, outputs)
            status = 0
        finally:
            os._exit(status)

    def reap(self) -> bool:
        """Wait for ended children. False when there is no child left.

        A subreaper that ends cleanly leaves nothing behind. After any other death, orphans may have come to us, and
        killing one of them may bring its children.
        """
        command_subreaper.drain_wakeup_pipe(self.alarm)
        strangers = False
        try:
            while (ended := os.waitpid(-1, os.WNOHANG | os.WUNTRACED)) != (0, 0):
                pid, status = ended
                if os.WIFSTOPPED(status):  # the command stopped its subreaper, which could not end it any more
                    os.kill(pid, signal.SIGKILL)
                    continue
                strangers |= status != 0 or pid not in self.subreapers
                self.subreapers.discard(pid)
        except ChildProcessError:
            return False
        if strangers:
            command_subreaper.kill_children(spared=self.subreapers)
        return True

    def leave(self) -> None:
        """The owner is gone, and every subreaper has noticed that by itself. Kill what the subreapers leave.

        The time is bounded: a child that even SIGKILL cannot end at once must not delay an owner that is closing.
        """
        for grace in (SUBREAPERS_MAY_TAKE, KILLING_MAY_TAKE):
            if not self.children_after(grace):
                return
            self.subreapers.clear()
            command_subreaper.kill_children()

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


if __name__ == "__main__":
    main(sys.argv[1:])
