"""Programs that remove files, change the machine, or work on other machines."""

from coderelay.policy.recognisers.program import EVERY_USE, Program

_ENDS_MACHINE = Program(danger="it ends the machine")
_ENDS_PROCESSES = Program(danger="it ends processes")
_CHANGES_DISK = Program(danger="it changes a disk")
_CHANGES_MOUNTS = Program(danger="it changes what is mounted")
_CHANGES_RIGHTS = Program(danger="it changes rights")
_CHANGES_SERVICES = Program(danger="it changes services")
_CHANGES_ACCOUNTS = Program(danger="it changes accounts")
_RUNS_LATER = Program(runs_input=True, danger="it makes something run later")
_CONNECTS = Program(danger="it opens a connection", network=EVERY_USE, fetches=True)
_IMAGES = frozenset(("pull", "push", "login", "build"))
_ONLINE = (
    "sftp", "ftp", "telnet", "ping", "dig", "nslookup", "apt", "apt-get", "dnf", "yum", "apk", "brew", "aws",
    "gcloud", "az",
)  # fmt: skip

MACHINE: dict[str, Program] = {
    "rm": Program(danger="it removes files"),
    "rmdir": Program(danger="it removes folders"),
    "shred": Program(danger="it destroys files"),
    "unlink": Program(danger="it removes files"),
    "truncate": Program(danger="it empties files"),
    "dd": Program(danger="it writes raw data"),
    "mkfs": Program(danger="it formats a disk"),
    "fdisk": _CHANGES_DISK,
    "parted": _CHANGES_DISK,
    "mount": _CHANGES_MOUNTS,
    "umount": _CHANGES_MOUNTS,
    **dict.fromkeys(("shutdown", "reboot", "halt", "poweroff"), _ENDS_MACHINE),
    **dict.fromkeys(("kill", "killall", "pkill"), _ENDS_PROCESSES),
    **dict.fromkeys(("chmod", "chattr", "setfacl"), _CHANGES_RIGHTS),
    "chown": Program(danger="it changes owners"),
    "crontab": _RUNS_LATER,
    "at": _RUNS_LATER,
    **dict.fromkeys(("systemctl", "service", "launchctl"), _CHANGES_SERVICES),
    "iptables": Program(danger="it changes the network"),
    **dict.fromkeys(("useradd", "usermod", "passwd"), _CHANGES_ACCOUNTS),
    "docker": Program(
        danger="it can reach the whole machine", publishes="push", network=_IMAGES, version=("--version", "-v")
    ),
    "podman": Program(danger="it can reach the whole machine", network=_IMAGES),
    "terraform": Program(danger="it changes infrastructure"),
    "kubectl": Program(danger="it changes a cluster", network=EVERY_USE),
    "ssh": Program(danger="it works on another machine", network=EVERY_USE, starts=1, texts="each", runs_input=True),
    "scp": Program(danger="it copies to or from another machine", network=EVERY_USE),
    "rsync": Program(danger="it copies and may remove files"),  # it uses the network if an operand names a machine
    "nc": _CONNECTS,
    "ncat": _CONNECTS,
    "socat": Program(danger="it opens a connection"),
    "curl": Program(danger="it uses the network", network=EVERY_USE, fetches=True, version=("--version",)),
    "wget": Program(danger="it uses the network", network=EVERY_USE, fetches=True),
    "aria2c": Program(network=EVERY_USE, fetches=True),
    "fetch": Program(fetches=True),
    "gh": Program(network=EVERY_USE, publishes="release", version=("--version",), tells=True),
    "glab": Program(network=EVERY_USE, tells=True),
    **dict.fromkeys(_ONLINE, Program(network=EVERY_USE)),
}
