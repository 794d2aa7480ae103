"""Read-only checks for small programs (echo, printf, test, date), archive listings (tar, unzip) and process viewers.

The table also holds mkdir and touch, which only make files and folders.
"""

import re
from collections.abc import Sequence

from coderelay.policy.shell.programs.command_folders_and_not_read_only import CommandFolders, NotReadOnly
from coderelay.policy.shell.programs.harmless_option_check import Options, check_pattern
from coderelay.policy.shell.programs.program_spec import Build, Program
from coderelay.policy.shell.strict_bash_parser import Word
from coderelay.protocol.translatable import say

_TESTS = {"-f", "-d", "-e", "-s", "-r", "-w", "-x", "-L", "-h"}
_FORMAT = re.compile(r"(?:[^%]|%%|%[-+ #'\d*.]*[hlLjzt]*[sdiouxXfFeEgGaAcbq])*")
_COMPARES = {"=", "==", "!="}
_COMPARES_FILES = {"-nt", "-ot", "-ef"}
_DATE = re.compile(r"-u|-R|-I[a-z]*|--utc|--iso-8601(?:=\w+)?|--rfc-3339=\w+|--date=.*|\+.*", re.DOTALL)
# Environment variables whose values are no secrets; any other variable may hold one.
_VARIABLES = {
    "PATH", "HOME", "USER", "SHELL", "PWD", "LANG", "LC_ALL", "TZ", "TERM", "TMPDIR", "VIRTUAL_ENV", "NODE_ENV",
    "JAVA_HOME", "GOPATH", "GOROOT", "CARGO_HOME", "RUSTUP_HOME", "HOSTNAME", "EDITOR", "CI",
}  # fmt: skip
_LISTS = re.compile(r"-?(?=[^t]*t)[tvzjJ]+f")
_UNZIP_LISTS = ("-l", "-v", "-Z1")
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


def recognise_echo(words: Sequence[Word], folders: CommandFolders) -> None:
    """echo prints its words; a glob may only expand to file names of the workspace."""
    for word in words:
        check_pattern(word)
        if word.glob and not folders.holds(word.text):
            raise NotReadOnly(say("{path} is outside the workspace", path=word.text))


def recognise_printf(words: Sequence[Word], folders: CommandFolders) -> None:
    """No option is accepted, because `-v` evaluates a name, and only formats that print: `%n` sets a variable."""
    if not words or words[0].glob or not _FORMAT.fullmatch(words[0].text) or words[0].text.startswith("-"):
        raise NotReadOnly("printf is given no plain format")
    recognise_echo(words, folders)


def recognise_test(words: Sequence[Word], folders: CommandFolders) -> None:
    texts = [word.text for word in words]
    texts = texts[1:] if texts[:1] == ["!"] else texts
    match texts:
        case [operator, path] if operator in _TESTS:
            paths = [path]
        case [one, operator, other] if operator in _COMPARES_FILES:
            paths = [one, other]
        case ["-n" | "-z", _]:
            paths = []
        case [_, operator, _] if operator in _COMPARES:
            paths = []
        case _:
            raise NotReadOnly("only tests of files and plain texts are known to be harmless")
    if any(word.glob for word in words):
        raise NotReadOnly("a file name pattern stands where a plain word is needed")
    for path in paths:
        if not folders.holds(path):
            raise NotReadOnly(say("{path} is outside the workspace", path=path))


def recognise_date(words: Sequence[Word], folders: CommandFolders) -> None:
    """Accepts options that only print a time, with -d the given one."""
    texts = [word.text for word in words]
    if "-d" in texts[:-1] and not words[texts.index("-d") + 1].glob:
        at = texts.index("-d")
        del texts[at : at + 2]
    if not all(map(_DATE.fullmatch, texts)):
        raise NotReadOnly("date may set the clock")


def recognise_printenv(words: Sequence[Word], folders: CommandFolders) -> None:
    if not words or any(word.text not in _VARIABLES for word in words):
        raise NotReadOnly("the environment may hold secrets")


def recognise_ulimit(words: Sequence[Word], folders: CommandFolders) -> None:
    if len(words) > 1 or any(not re.fullmatch(r"-[SH]?[acdfnstuv]", word.text) for word in words):
        raise NotReadOnly("ulimit may change what the shell may use")


_TELLS: dict[str, Program] = {  # what they tell is neither in files nor about them
    "df": Program(Options(short="ahHiklPT", texts="tx", long=("--human-readable", "--total", "--output=?")),
        only_names=True),
    "bc": Program(Options(short="lqsw")),
    "numfmt": Program(Options(long=("--to=", "--from=", "--suffix=", "--padding=", "--field=", "--round=",
        "--format=", "--header=?"), text_operands=99)),
    "getconf": Program(Options(text_operands=1, most_operands=1)),
    "lscpu": Program(Options(most_operands=0)),
    "sleep": Program(Options(text_operands=1, most_operands=1), only_names=True),
    "seq": Program(Options(short="w", texts="sf", text_operands=3, numbers=True), only_names=True),
    "pwd": Program(Options(short="LP", most_operands=0), only_names=True),
    "whoami": Program(Options(most_operands=0)),
    "id": Program(Options(short="gGnru", text_operands=1, most_operands=1), only_names=True),
    "groups": Program(Options(most_operands=0)),
    "uname": Program(Options(short="amnoprsv", long=("--all",), most_operands=0)),
    "hostname": Program(Options(short="fis", most_operands=0)),
    "nproc": Program(Options(long=("--all",), most_operands=0)),
    "uptime": Program(Options(short="ps", most_operands=0)),
    "free": Program(Options(short="bghkmt", most_operands=0)),
    "arch": Program(Options(most_operands=0)),
    "tty": Program(Options(most_operands=0)),
    "locale": Program(Options(short="a", most_operands=0)),
    "which": Program(Options(short="a", text_operands=99), only_names=True),
    "type": Program(Options(short="atpP", text_operands=99), only_names=True),
    "true": Program(Options(text_operands=99), only_names=True),
    "false": Program(Options(text_operands=99), only_names=True),
    ":": Program(Options(text_operands=99), only_names=True),
    "exit": Program(Options(text_operands=1, most_operands=1)),
}  # fmt: skip
PLAIN: dict[str, Program] = {
    **_TELLS,
    "echo": Program(recognise=recognise_echo, only_names=True),
    "printf": Program(recognise=recognise_printf, only_names=True),
    "test": Program(recognise=recognise_test, only_names=True),
    "date": Program(recognise=recognise_date, only_names=True),
    "printenv": Program(recognise=recognise_printenv),
    "ulimit": Program(recognise=recognise_ulimit),
    "mkdir": Program(
        edits=Options(short="pv", long=("--parents", "--verbose")),
        builds={(): Build(Options(short="pv"), changes=True)},
        only_names=True,
    ),
    "touch": Program(edits=Options(short="acm"), builds={(): Build(changes=True)}, only_names=True),
}


def lists_archive(program: str, option: str) -> bool:
    return option in _UNZIP_LISTS if program == "unzip" else _LISTS.fullmatch(option) is not None


def recognise_tar(words: Sequence[Word], folders: CommandFolders) -> None:
    """Only `tf`, perhaps with more letters, and an archive without a colon, which would name another machine."""
    if len(words) < 2 or not lists_archive("tar", words[0].text):
        raise NotReadOnly("tar is only known to be harmless when it lists an archive (tar tf FILE)")
    _check_names(words[1:], folders)
    if ":" in words[1].text:
        raise NotReadOnly("tar may ask another machine")


def recognise_unzip(words: Sequence[Word], folders: CommandFolders) -> None:
    if len(words) < 2 or not lists_archive("unzip", words[0].text):
        raise NotReadOnly("unzip is only known to be harmless when it lists, as unzip -l")
    _check_names(words[1:], folders)


def _check_names(words: Sequence[Word], folders: CommandFolders) -> None:
    for word in words:
        if word.glob or (word.text.startswith("-") and word.text != "-"):
            raise NotReadOnly(say("{word} could be an option", word=word.text))
        if not folders.holds(word.text):
            raise NotReadOnly(say("{path} is outside the workspace", path=word.text))


ARCHIVERS: dict[str, Program] = {
    "tar": Program(recognise=recognise_tar, only_names=True),
    "unzip": Program(recognise=recognise_unzip, only_names=True),
}


def recognise_ps(words: Sequence[Word], folders: CommandFolders) -> None:
    """Checks each option and field, because `e` without a dash and some fields show the environment of a process."""
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
        raise NotReadOnly("ps may show the environment of a process")
    if any(word.glob for word in words):
        raise NotReadOnly("ps may show the environment of a process")


def recognise_top(words: Sequence[Word], folders: CommandFolders) -> None:
    if not all(_TOP.fullmatch(word.text) for word in words) or not any("b" in word.text for word in words):
        raise NotReadOnly("top is known to only print when it runs once, as -bn1")


def recognise_lsof(words: Sequence[Word], folders: CommandFolders) -> None:
    if not words or not all(_LSOF.fullmatch(word.text) for word in words):
        raise NotReadOnly("only lsof of ports and processes is known to be harmless")


def recognise_jobs(words: Sequence[Word], folders: CommandFolders) -> None:
    if any(word.text not in ("-l", "-p", "-r", "-s") for word in words):
        raise NotReadOnly("jobs may run a program")


PROCESS_VIEWERS: dict[str, Program] = {
    "ps": Program(recognise=recognise_ps, only_names=True),
    "top": Program(recognise=recognise_top),
    "pgrep": Program(_PGREP),
    "pstree": Program(_PSTREE),
    "ss": Program(_SS),
    "netstat": Program(_NETSTAT),
    "lsof": Program(recognise=recognise_lsof),
    "jobs": Program(recognise=recognise_jobs),
}
