"""Programs that change things beyond the workspace or use the network, and which uses of them destroy a machine."""

import re
from collections.abc import Sequence

from coderelay.policy.shell.programs.program_spec import EVERY_USE, Program

ROOT_OR_HOME = re.compile(
    r"""(?:/+|/+\*|~|~/|~/\*|\$\{?HOME\}?/?|\$\{?HOME\}?/\*|/\.|/\.\*|/\.\.|
    /(?:bin|boot|dev|etc|home|lib|lib64|opt|proc|root|run|sbin|srv|sys|usr|var|Users|System|Library)/?\*?)""",
    re.VERBOSE,
)
DISK = re.compile(r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|mapper/|dm-)\w*")
_DESTROYS = "it destroys the machine or the home folder"
_OVERWRITES = "it overwrites a disk"
_IMAGES = frozenset(("pull", "push", "login", "build"))
_ONLINE = (
    "sftp", "ftp", "telnet", "ping", "dig", "nslookup", "apt", "apt-get", "dnf", "yum", "apk", "brew", "aws",
    "gcloud", "az",
)  # fmt: skip
_NAME_HOSTS = (
    "host", "whois", "traceroute", "tracepath", "mtr", "ping6", "mosh", "autossh", "sshfs", "ssh-copy-id",
    "ssh-keyscan", "lftp", "http", "https", "xh", "openssl", "psql", "pg_dump", "mysql", "mysqldump", "redis-cli",
    "mongosh", "rclone", "websocat", "grpcurl",
)  # fmt: skip


def reaches_all_files(words: Sequence[str]) -> str | None:
    """Of a program that changes or removes whole folders if an option says so."""
    letters = "".join(each[1:] for each in words if re.fullmatch(r"-[A-Za-z]+", each))
    deep = "r" in letters or "R" in letters or "--recursive" in words
    return _DESTROYS if deep and any(map(ROOT_OR_HOME.fullmatch, words)) else None


def removes_all_files(words: Sequence[str]) -> str | None:
    if "--no-preserve-root" in words:
        return "it deletes everything on the machine"
    return reaches_all_files(words)


def finds_and_removes_all_files(words: Sequence[str]) -> str | None:
    return _DESTROYS if "-delete" in words and len(words) == 2 and ROOT_OR_HOME.fullmatch(words[0]) else None


def names_disk(words: Sequence[str]) -> str | None:
    return _OVERWRITES if any(map(DISK.match, words)) else None


def shreds(words: Sequence[str]) -> str | None:
    return reaches_all_files(words) or names_disk(words)


def copies_to_disk(words: Sequence[str]) -> str | None:
    return _OVERWRITES if any(each.startswith("of=") and DISK.match(each[3:]) for each in words) else None


SYSTEM_PROGRAMS: dict[str, Program] = {
    "rm": Program(danger="it removes files", find_destruction=removes_all_files),
    "unlink": Program(danger="it removes files"),
    "rmdir": Program(danger="it removes folders"),
    "shred": Program(danger="it destroys files", find_destruction=shreds),
    "truncate": Program(danger="it empties files"),
    "dd": Program(danger="it writes raw data", find_destruction=copies_to_disk),
    "mkfs": Program(danger="it formats a disk", find_destruction=names_disk),
    "wipefs": Program(find_destruction=names_disk),
    **dict.fromkeys(("fdisk", "parted"), Program(danger="it changes a disk")),
    **dict.fromkeys(("mount", "umount"), Program(danger="it changes what is mounted")),
    **dict.fromkeys(
        ("shutdown", "reboot", "halt", "poweroff"), Program(danger="it shuts down or restarts the machine")
    ),
    **dict.fromkeys(("kill", "killall", "pkill"), Program(danger="it kills processes")),
    "chmod": Program(danger="it changes file permissions", find_destruction=reaches_all_files),
    **dict.fromkeys(("chattr", "setfacl"), Program(danger="it changes file permissions")),
    "chown": Program(danger="it changes file owners", find_destruction=reaches_all_files),
    "chgrp": Program(find_destruction=reaches_all_files),
    **dict.fromkeys(("crontab", "at"), Program(runs_input=True, danger="it schedules something to run later")),
    **dict.fromkeys(("systemctl", "service", "launchctl"), Program(danger="it changes services")),
    "iptables": Program(danger="it changes the network"),
    **dict.fromkeys(("useradd", "usermod", "passwd"), Program(danger="it changes accounts")),
    "docker": Program(
        danger="it can reach the whole machine", publishes="push", network=_IMAGES, version=("--version", "-v")
    ),
    "podman": Program(danger="it can reach the whole machine", network=_IMAGES),
    "terraform": Program(danger="it changes infrastructure"),
    "kubectl": Program(danger="it changes a cluster", network=EVERY_USE),
    "ssh": Program(
        danger="it works on another machine", network=EVERY_USE, command_at=1, command_texts="each", runs_input=True
    ),
    "scp": Program(danger="it copies to or from another machine", network=EVERY_USE),
    "rsync": Program(danger="it copies and may remove files", remote_operand=r"(?:[\w.-]+@)?[\w.-]+:"),
    **dict.fromkeys(("nc", "ncat"), Program(danger="it opens a connection", network=EVERY_USE, fetches=True)),
    "socat": Program(danger="it opens a connection", names_hosts=True),
    "curl": Program(danger="it uses the network", network=EVERY_USE, fetches=True, version=("--version",)),
    "wget": Program(danger="it uses the network", network=EVERY_USE, fetches=True),
    "aria2c": Program(network=EVERY_USE, fetches=True),
    "fetch": Program(fetches=True, names_hosts=True),
    "gh": Program(network=EVERY_USE, publishes="release", version=("--version",), messages=EVERY_USE),
    "glab": Program(network=EVERY_USE, messages=EVERY_USE),
    **dict.fromkeys(_ONLINE, Program(network=EVERY_USE)),
    **dict.fromkeys(_NAME_HOSTS, Program(names_hosts=True)),
}
