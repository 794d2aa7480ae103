"""The subreaper of one command: a process that runs the command, and ends everything that it started.

The supervisor forks a subreaper for each command; `command_supervisor_script.py` describes the protocol. This file
belongs to that script: it imports nothing that is slow to load, and nothing of coderelay.
"""

import ctypes
import errno
import marshal
import os
import select
import signal
from _socket import MSG_WAITALL, socket  # importing `socket` would take 5 ms more

LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
Request = tuple[list[bytes], bytes, dict[bytes, bytes]]  # arguments, folder, environment


def run_to_end(command: socket, outputs: list[int]) -> None:
    """The subreaper: run one command to its end, and then end everything that it started."""
    request = receive_request(command)
    if request is None:
        return
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    alarm = child_alarm()
    failure, failure_writer = os.pipe()
    subreaper = os.getpid()
    try:
        leader = os.fork()
    except OSError as error:
        reply(command, words("process", error.errno))
        return
    if leader == 0:
        exec_command_as_session_leader(request, subreaper, outputs, failure_writer)
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
                drain_wakeup_pipe(alarm)
                while (ended := os.waitpid(-1, os.WNOHANG)) != (0, 0):
                    if ended[0] == leader:
                        return os.waitstatus_to_exitcode(ended[1])
                continue
            signals = receive(command, 16)
            if not signals:
                return None
            for number in signals:
                signal_group(leader, number)


def exec_command_as_session_leader(request: Request, subreaper: int, outputs: list[int], failure: int) -> None:
    """Become the command, as the leader of a new session. Standard input is ours, /dev/null. Never returns."""
    argv, cwd, env = request
    what, number = "program", errno.EINVAL
    try:
        os.setsid()
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != subreaper:
            return  # the subreaper died before we could ask to die with it
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


def signal_group(leader: int, number: int) -> None:
    try:
        os.killpg(leader, number)
    except (ProcessLookupError, PermissionError):
        return


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


def close_all(descriptors: list[int]) -> None:
    for each in descriptors:
        os.close(each)


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


def drain_wakeup_pipe(alarm: int) -> None:
    try:
        os.read(alarm, 512)
    except BlockingIOError:
        return


def prctl(option: int, value: int) -> None:
    """Does nothing where prctl does not exist (macOS): there, only process groups are ended."""
    if hasattr(LIBC, "prctl"):
        LIBC.prctl(option, value, 0, 0, 0)


def read_file(path: str) -> str:
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.read()
