"""Programs that remove or change things beyond the workspace, or use the network."""

from coderelay.policy.shell.programs.program_spec import EVERY_USE, Program

_IMAGES = frozenset(("pull", "push", "login", "build"))
_ONLINE = (
    "sftp", "ftp", "telnet", "ping", "dig", "nslookup", "apt", "apt-get", "dnf", "yum", "apk", "brew", "aws",
    "gcloud", "az",
)  # fmt: skip
SYSTEM_PROGRAMS: dict[str, Program] = {
    **dict.fromkeys(("rm", "unlink"), Program(danger="it removes files")),
    "rmdir": Program(danger="it removes folders"),
    "shred": Program(danger="it destroys files"),
    "truncate": Program(danger="it empties files"),
    "dd": Program(danger="it writes raw data"),
    "mkfs": Program(danger="it formats a disk"),
    **dict.fromkeys(("fdisk", "parted"), Program(danger="it changes a disk")),
    **dict.fromkeys(("mount", "umount"), Program(danger="it changes what is mounted")),
    **dict.fromkeys(
        ("shutdown", "reboot", "halt", "poweroff"), Program(danger="it shuts down or restarts the machine")
    ),
    **dict.fromkeys(("kill", "killall", "pkill"), Program(danger="it kills processes")),
    **dict.fromkeys(("chmod", "chattr", "setfacl"), Program(danger="it changes file permissions")),
    "chown": Program(danger="it changes file owners"),
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
    "rsync": Program(danger="it copies and may remove files"),  # it uses the network if an operand names a machine
    **dict.fromkeys(("nc", "ncat"), Program(danger="it opens a connection", network=EVERY_USE, fetches=True)),
    "socat": Program(danger="it opens a connection"),
    "curl": Program(danger="it uses the network", network=EVERY_USE, fetches=True, version=("--version",)),
    "wget": Program(danger="it uses the network", network=EVERY_USE, fetches=True),
    "aria2c": Program(network=EVERY_USE, fetches=True),
    "fetch": Program(fetches=True),
    "gh": Program(network=EVERY_USE, publishes="release", version=("--version",), words_are_messages=True),
    "glab": Program(network=EVERY_USE, words_are_messages=True),
    **dict.fromkeys(_ONLINE, Program(network=EVERY_USE)),
}
