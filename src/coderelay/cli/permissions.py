"""`coder permissions`: list and revoke approvals, check commands, and trust folders."""

import argparse
import os
import sys
from collections.abc import Iterable
from itertools import groupby

import msgspec

from coderelay.cli.startup.current_person import current_person
from coderelay.cli.startup.home_folder_consent import broad_in_words
from coderelay.cli.startup.localized_argument_parser import LocalizedArgumentParser
from coderelay.cli.startup.open_app import new_app, run_with_app
from coderelay.cli.startup.real_folder_path import is_broad, real_folder
from coderelay.client.find_session import session_by_id
from coderelay.client.i18n import error_in_words, retell, t
from coderelay.client.permission_ask_text import approval_in_words
from coderelay.client.typed_answer_parser import agrees
from coderelay.config.loaded_config import home_of
from coderelay.config.trust_records_file import agree_to_broad, is_agreed_to, trust, untrust
from coderelay.config.trust_review import review_folder
from coderelay.host.host import Host
from coderelay.host.shell_command_disk_facts import facts_about
from coderelay.policy.shell.command_verdict import CommandVerdict, judge_command
from coderelay.policy.shell.disk_fact_types import DiskFacts
from coderelay.policy.shell.requested_rights import rights_of
from coderelay.protocol.commands import RevokeApproval
from coderelay.protocol.errors import BadInput, CoderError, UnknownApproval
from coderelay.protocol.ids import APPROVALS, the_id_meant
from coderelay.protocol.modes import MODE_NAMES
from coderelay.protocol.queries import ListApprovals
from coderelay.protocol.query_results import UntrustedSetting, UntrustedText
from coderelay.protocol.session_setting_values import Mode
from coderelay.protocol.text_escaping_and_width import display_path, escaped
from coderelay.protocol.translatable import encode_plain
from coderelay.surfaces.nonblocking_standard_streams import write_json


def main(arguments: list[str]) -> int:
    parser = LocalizedArgumentParser(prog="coder permissions", description=t(__doc__ or ""), allow_abbrev=False)
    parser.add_argument("--session", metavar="ID", help=t("include the approvals of this session"))
    actions = parser.add_subparsers(dest="action", metavar="list|revoke|check|trust|untrust")
    actions.add_parser("list", help=t("list the approvals for folders and everywhere"))
    actions.add_parser("revoke", help=t("revoke an approval, so that you are asked again")).add_argument(
        "approval", metavar="ID"
    )
    trusting = actions.add_parser(
        "trust",
        help=t(
            "trust a folder: apply the settings in its .coder/config.json that loosen yours, and "
            "use its skills and commands"
        ),
    )
    trusting.add_argument("folder", nargs="?", default=".", metavar="DIR")
    trusting.add_argument("--yes", action="store_true", help=t("do not ask for confirmation"))
    actions.add_parser("untrust", help=t("stop trusting a folder")).add_argument(
        "folder", nargs="?", default=".", metavar="DIR"
    )
    checking = actions.add_parser(
        "check", help=t("show whether a command would be allowed, and why, without running it")
    )
    checking.add_argument("--mode", choices=MODE_NAMES, default="default")
    checking.add_argument(
        "--stdin",
        action="store_true",
        help=t('read one {"command": …, "mode": …} per line from stdin, and print one verdict for each'),
    )
    checking.add_argument("command", nargs="?", metavar="COMMAND")
    options = parser.parse_args(arguments)
    if options.action == "check":
        return _check(checking, options)
    if options.action in ("trust", "untrust"):
        return _change_trust(options)

    async def work(host: Host) -> int:
        given = options.session
        session = None if given is None else (await session_by_id(host, given)).id
        approvals = await host.get(ListApprovals(session, current_person().who))
        if options.action != "revoke":
            for each in approvals:
                sys.stdout.write(f"{each.id}  {escaped(approval_in_words(each))}\n")
            if not approvals:
                sys.stderr.write(t("no approvals yet; answering `always` adds one") + "\n")
            return 0
        meant = the_id_meant(options.approval, [each.id for each in approvals])
        found = next((each for each in approvals if each.id == meant), None)
        if found is None:
            raise UnknownApproval(options.approval)
        given_in = session if session is not None and found.scope == "session" else APPROVALS
        await host.send(RevokeApproval(session=given_in, approval=found.id, by=current_person()))
        sys.stdout.write(t("revoked {tool}: {title}", tool=found.tool, title=escaped(found.title)) + "\n")
        return 0

    return run_with_app(work)


class CheckLine(msgspec.Struct, frozen=True):
    """One line of `check --stdin`."""

    command: str
    mode: Mode = "default"


def _check(parser: LocalizedArgumentParser, options: argparse.Namespace) -> int:
    if options.stdin == (options.command is not None):
        parser.error(t("give a COMMAND or --stdin"))
    try:
        checked = CommandCheck(real_folder())
    except CoderError as error:
        sys.stderr.write(f"coder: {error_in_words(error)}\n")
        return 1
    if not options.stdin:
        found = checked.judge(options.command, options.mode)
        sys.stdout.write(escaped(f"{found.verdict}: {retell(found.reason)}") + "\n")
        return 0
    for line in sys.stdin.buffer:
        if not line.strip():
            continue
        try:
            question = msgspec.json.decode(line, type=CheckLine)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            answer = {"verdict": "ask", "reason": f"this line cannot be read: {error}"}
        else:
            found = checked.judge(question.command, question.mode)
            answer = {"verdict": found.verdict, "reason": found.reason}
        write_json(sys.stdout, msgspec.json.encode(answer, enc_hook=encode_plain).decode())
    return 0


class CommandCheck:
    """Judges commands by the configuration of a folder. Raises BadInput if the configuration is wrong."""

    def __init__(self, folder: str) -> None:
        self._folder = new_app(folder).folders.of(folder)
        self._sandbox: str | None = None

    def judge(self, command: str, mode: Mode) -> CommandVerdict:
        if "bash" in self._folder.settings.tools.disabled:
            return CommandVerdict("deny", "the tool bash is disabled")
        facts = facts_about(command, (self._folder.path,), self._folder.rules, self._folder.person_home)
        found = self._judge(command, mode, facts, sandboxed=True)
        if found == (plain := self._judge(command, mode, facts, sandboxed=False)):
            return found
        if self._sandbox is None:  # detected only when it matters: that takes a moment
            self._sandbox = self._folder.sandbox
        return plain if self._sandbox in ("", "none") else found

    def _judge(self, command: str, mode: Mode, facts: DiskFacts, *, sandboxed: bool) -> CommandVerdict:
        folder = self._folder
        has_network = folder.settings.sandbox.network
        return judge_command(
            command,
            mode,
            (folder.path,),
            folder.rules,
            preset=folder.settings.permissions.preset,
            sandboxed=sandboxed,
            rights=tuple(right for right in rights_of(command) if right != "network" or not has_network),
            home=folder.person_home,
            facts=facts,
        )


def _change_trust(options: argparse.Namespace) -> int:
    home = home_of(os.environ)
    try:
        folder = real_folder(options.folder)
        if not os.path.isdir(folder):
            raise BadInput(t("no such folder: {folder}", folder=display_path(folder)))
        return _trust(home, folder, options.yes) if options.action == "trust" else _untrust(home, folder)
    except CoderError as error:
        sys.stderr.write(f"coder: {error_in_words(error)}\n")
        return 1


def _trust(home: str, folder: str, yes: bool) -> int:
    found = review_folder(home, os.path.expanduser("~"), folder)
    shown = found.shown
    is_new_broad = is_broad(folder) and not is_agreed_to(home, folder)
    if not found.wanted and not found.texts and not is_broad(folder):
        sys.stdout.write(
            t("nothing to trust: {folder} does not loosen any of your settings", folder=display_path(folder)) + "\n"
        )
        return 0
    if not shown.settings and not shown.texts and not is_new_broad:
        sys.stdout.write(t("{folder} is already trusted", folder=display_path(folder)) + "\n")
        return 0
    if os.environ.get("CODER"):
        raise BadInput(t("a command that an agent runs cannot trust a folder"))
    if is_new_broad:
        sys.stdout.write(f"{broad_in_words(folder)}\n")
    _show_settings(folder, shown.settings)
    if shown.texts:
        _show_texts(folder, shown.texts)
    if not yes and not _agrees():
        return 1
    trust(home, folder, found.wanted, found.texts)
    if is_new_broad:
        agree_to_broad(home, folder)
    sys.stdout.write(t("trusted {folder}", folder=display_path(folder)) + "\n")
    return 0


def _show_settings(folder: str, settings: Iterable[UntrustedSetting]) -> None:
    for file, group in groupby(settings, lambda each: each.file):
        sys.stdout.write(t("{file} sets:", file=display_path(os.path.join(folder, file))) + "\n")
        for each in group:
            sys.stdout.write(escaped(f"  {each.key} = {each.value}") + "\n")


def _show_texts(folder: str, texts: Iterable[UntrustedText]) -> None:
    told = t(
        "{folder} has files that tell an agent what to do; read them first:",
        folder=display_path(folder),
    )
    sys.stdout.write(f"{told}\n")
    for each in texts:
        sys.stdout.write(f"  {escaped(each.path)}  ({t('changed') if each.changed else t('new')})\n")


def _agrees() -> bool:
    """Ask the person. Raises BadInput if nobody is at a terminal: only a person there can agree."""
    if not sys.stdin.isatty():
        raise BadInput(t("cannot ask for confirmation without a terminal"), t("Use --yes to trust it."))
    sys.stdout.write(t("If you trust it, its commands and rules apply like your own. Trust it? [y/N] "))
    sys.stdout.flush()
    return agrees(sys.stdin.readline())


def _untrust(home: str, folder: str) -> int:
    name = display_path(folder)
    was = untrust(home, folder)
    told = t("{folder} is no longer trusted", folder=name) if was else t("{folder} is not trusted", folder=name)
    sys.stdout.write(f"{told}\n")
    return 0
