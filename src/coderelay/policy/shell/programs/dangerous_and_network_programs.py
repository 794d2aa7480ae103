"""Programs that remove or change things beyond the workspace, or use the network."""

from coderelay.policy.shell.programs.destructive_uses import (
    copies_to_disk,
    names_disk,
    reaches_all_files,
    removes_all_files,
    shreds,
)
from coderelay.policy.shell.programs.program_spec import EVERY_USE, Program

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
