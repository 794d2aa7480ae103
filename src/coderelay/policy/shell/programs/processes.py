"""Programs that show what runs and who listens. They end nothing and tell no environment."""

import re
from collections.abc import Sequence

from coderelay.policy.shell.parser import Word
from coderelay.policy.shell.programs.options import Options, Refused
from coderelay.policy.shell.programs.paths import Place
from coderelay.policy.shell.programs.program import Program

_PS = {
    "aux", "-ef", "-e", "-f", "-A", "-a", "-x", "ax", "-aux", "-ax", "auxf", "auxw", "auxww", "axf", "axjf", "faux",
    "u", "x", "-eLf", "-efL", "-eF", "-el", "-elf", "-ww", "--forest", "--no-headers", "-N",
}  # fmt: skip
_PS_FIELDS = {
    "pid", "ppid", "pgid", "sid", "tid", "lwp", "user", "uid", "euser", "ruser", "group", "stat", "state", "s",
    "etime", "etimes", "time", "cputime", "lstart", "start", "pcpu", "%cpu", "c", "pmem", "%mem", "rss", "vsz", "cmd",
    "comm", "args", "command", "nlwp", "ni", "pri", "psr", "wchan", "tty", "tname",
}  # fmt: skip
_PS_WITH_FIELDS = {"-o", "o", "-eo", "-axo", "axo", "-Ao", "--format"}
_PS_WITH_VALUE = {"-p", "-C", "-u", "-U", "-t", "--pid", "--ppid"}
_NAMES = re.compile(r"[\w.,@/][\w.,@/-]*")
_TOP = re.compile(r"-[bHci]*b[Hci]*(?:n\d*)?|-n\d*|\d+|-c|-H")
_LSOF = re.compile(
    r"-[nPlta]+|-[nPlta]*i[46]?(?:TCP|UDP|tcp|udp)?(?::[\d,-]+)?|(?:TCP|UDP|tcp|udp)?:[\d,-]+|-sTCP:[A-Z]+|-p|\d+"
)
_SS = Options(
    short="ltunpaxeis46HOmow",
    long=("--listening", "--tcp", "--udp", "--unix", "--numeric", "--processes", "--all", "--summary", "--extended"),
    most_operands=0,
)
_NETSTAT = Options(short="tulpnaeW", long=("--numeric",), most_operands=0)
_PGREP = Options(
    short="aflnoxcviw",
    texts="uPd",
    long=("--list-name", "--list-full", "--full", "--exact", "--count", "--newest", "--oldest"),
    text_operands=1,
    most_operands=1,
)
_PSTREE = Options(short="apulnsAhTgc", text_operands=1, most_operands=1)


def recognise_ps(words: Sequence[Word], place: Place) -> None:
    """Field by field: `e` without a dash, and a field of that kind, show the environment of a process."""
    rest = [word.text for word in words]
    while rest:
        option = rest.pop(0)
        name, joined, value = option.partition("=")
        if option in _PS or re.fullmatch(r"--sort=[-+]?\w+", option) or re.fullmatch(r"-p\d+", option):
            continue
        if name in _PS_WITH_FIELDS and (joined or rest):
            fields = (value if joined else rest.pop(0)).split(",")
            if all(field.removesuffix("=") in _PS_FIELDS for field in fields):
                continue
        elif name in _PS_WITH_VALUE and (joined or rest) and _NAMES.fullmatch(value if joined else rest.pop(0)):
            continue
        raise Refused("ps may show the environment of a process")
    if any(word.glob for word in words):
        raise Refused("ps may show the environment of a process")


def recognise_top(words: Sequence[Word], place: Place) -> None:
    if not all(_TOP.fullmatch(word.text) for word in words) or not any("b" in word.text for word in words):
        raise Refused("top is known to only print when it runs once, as -bn1")


def recognise_lsof(words: Sequence[Word], place: Place) -> None:
    if not words or not all(_LSOF.fullmatch(word.text) for word in words):
        raise Refused("only lsof of ports and processes is known to be harmless")


def recognise_jobs(words: Sequence[Word], place: Place) -> None:
    if any(word.text not in ("-l", "-p", "-r", "-s") for word in words):
        raise Refused("jobs may run a program")


PROCESS_VIEWERS: dict[str, Program] = {
    "ps": Program(recognise=recognise_ps, names_only=True),
    "top": Program(recognise=recognise_top),
    "pgrep": Program(_PGREP),
    "pstree": Program(_PSTREE),
    "ss": Program(_SS),
    "netstat": Program(_NETSTAT),
    "lsof": Program(recognise=recognise_lsof),
    "jobs": Program(recognise=recognise_jobs),
}
