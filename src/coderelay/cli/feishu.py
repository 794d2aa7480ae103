"""`coder feishu`: a bot in the chats of Feishu or Lark, in which people work with coder.

docs/feishu.md says how to create the app. `coder feishu link` makes a chat yours: what any of your sessions asks
arrives there, too.
"""

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Mapping, Sequence
from importlib.util import find_spec

from msgspec import Struct

from coderelay.app import App
from coderelay.cli.startup.current_person import current_person
from coderelay.cli.startup.event_loop_and_ctrl_c import INTERRUPTED, run_loop, stop_on_signals
from coderelay.cli.startup.localized_argument_parser import HelpText, LocalizedArgumentParser, port_number
from coderelay.cli.startup.open_app import new_app
from coderelay.client.client import NO_CAPABILITIES
from coderelay.client.i18n import error_in_words, t
from coderelay.config.loaded_config import Config
from coderelay.config.settings import FeishuConfig
from coderelay.host.host import Host
from coderelay.protocol.errors import BadInput, CannotRun, CoderError
from coderelay.protocol.install_command import install_command
from coderelay.protocol.translatable import say
from coderelay.protocol.wall_clock import now
from coderelay.surfaces import nonblocking_standard_streams
from coderelay.surfaces.feishu.access_rules import AccessRules
from coderelay.surfaces.feishu.account_links import CODE_SECONDS, Links
from coderelay.surfaces.feishu.card_outbox_interface import DeadLetter, dead_letters
from coderelay.surfaces.feishu.chat_options import ChatOptions

_DOMAINS = {"feishu": "https://open.feishu.cn", "lark": "https://open.larksuite.com"}
_WEBHOOK_PORT = 8788
_LINK_PAUSE = 1.0


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    nonblocking_standard_streams.write_behind()
    try:
        return run_loop(_run(options, new_app()))
    except CoderError as error:
        sys.stderr.write(f"coder: {error_in_words(error)}\n")
        return 1
    except KeyboardInterrupt:
        nonblocking_standard_streams.stop_waiting_for_readers()
        return INTERRUPTED


def _parser() -> LocalizedArgumentParser:
    told = t(__doc__ or "")
    parser = LocalizedArgumentParser(
        prog="coder feishu", description=told, allow_abbrev=False, formatter_class=HelpText
    )
    add = parser.add_argument
    add(
        "--webhook",
        action="store_true",
        help=t("receive events as HTTP requests of the platform (webhook), instead of connecting to it"),
    )
    add("--host", default="127.0.0.1", metavar="H", help=t("the address that the webhook listens at"))
    add("--port", type=port_number, default=_WEBHOOK_PORT, metavar="N", help=t("the port of the webhook"))
    actions = parser.add_subparsers(dest="action", metavar="link|unlink")
    actions.add_parser(
        "link", help=t("link a chat to you: questions of all your sessions arrive there"), allow_abbrev=False
    )
    actions.add_parser("unlink", help=t("unlink your chat"), allow_abbrev=False)
    return parser


async def _run(options: argparse.Namespace, app: App) -> int:
    settings = app.config.settings.feishu
    app_id = _app_id(settings)
    host = await app.open_patiently()
    try:
        if options.action is not None:
            return await _change_link(options.action, host, app_id)
        await host.check()
        return await _serve(options, app, host, settings, app_id)
    finally:
        await app.close(host)


async def _serve(options: argparse.Namespace, app: App, host: Host, settings: FeishuConfig, app_id: str) -> int:
    secret = _secret(app, settings.app_secret_env, "feishu.app_secret_env")
    keys = None
    if options.webhook:
        keys = (
            _secret(app, settings.encrypt_key_env, "feishu.encrypt_key_env"),
            _secret(app, settings.verification_token_env, "feishu.verification_token_env"),
        )
    chat_options = _chat_options(app, settings)
    _check_library()
    from coderelay.surfaces.feishu.bot import Bot, BotTiming, WebhookOptions  # these load lark-oapi
    from coderelay.surfaces.feishu.chat_side_assembly import ChatSide
    from coderelay.surfaces.feishu.lark_api import AppCredentials
    from coderelay.surfaces.feishu.webhook import WebhookSecrets, listen

    webhook = None
    if keys is not None:
        webhook = WebhookOptions(listen(options.host, options.port), WebhookSecrets(*keys))
    client = host.connect(NO_CAPABILITIES, settings.lang)
    key_values = client.key_value_store(f"feishu:{app_id}")
    bot = Bot(
        AppCredentials(app_id, secret, _domain(settings.domain)),
        settings.tenant or "",
        key_values,
        lambda outbox: ChatSide(client, key_values, outbox, chat_options),
        _Announcement(None if webhook is None else webhook.listening.getsockname()[1]).tell,
        BotTiming(
            lease_ms=int(float(os.environ.get("CODER_FEISHU_LEASE_SECONDS") or 15) * 1000),
            pace=float(os.environ.get("CODER_FEISHU_PACE") or 1),
        ),
    )
    await bot.run(stop_on_signals(), webhook)
    return 0


class _Announcement:
    """Says when people can write to the bot, and when they cannot."""

    def __init__(self, port: int | None) -> None:
        self._port = port

    def tell(self, is_connected: bool) -> None:
        if not is_connected:
            text = t("The connection to the platform is lost; connecting again …")
        elif self._port is not None:
            text = t("Waiting for the platform at port {port}. Ctrl-C ends the bot.", port=self._port)
        else:
            text = t("Connected. People can write to the bot now. Ctrl-C ends it.")
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()


def _app_id(settings: FeishuConfig) -> str:
    if settings.app_id is None:
        raise CannotRun(
            "no Feishu app is configured",
            "Create one on the platform (docs/feishu.md), and set feishu.app_id in ~/.coder/config.json.",
        )
    return settings.app_id


def _secret(app: App, variable: str, key: str) -> str:
    """The value of the variable. What tools print is masked if it holds it."""
    value = app.env.get(variable, "").strip()
    if not value:
        raise CannotRun(
            say("the environment variable {variable} is not set", variable=variable),
            say("It must hold a secret of the app; {key} can name another variable.", key=key),
        )
    app.secrets.add([value])
    return value


def _domain(name: str) -> str:
    address = _DOMAINS.get(name, name).rstrip("/")
    is_local = address.startswith(("http://127.0.0.1", "http://localhost", "http://[::1]"))
    if not address.startswith("https://") and not is_local:
        raise BadInput(say("feishu.domain must be feishu, lark or an https:// address, not {name}", name=repr(name)))
    return address


def _chat_options(app: App, settings: FeishuConfig) -> ChatOptions:
    cwd = os.path.expanduser(settings.cwd or os.getcwd())
    if not os.path.isdir(cwd):
        raise BadInput(say("the folder of feishu.cwd does not exist: {path}", path=cwd))
    return ChatOptions(
        host_person=current_person().who,
        cwd=os.path.realpath(cwd),
        roots=tuple(os.path.realpath(os.path.expanduser(each)) for each in settings.roots),
        access=AccessRules(settings.users, settings.chats, settings.approvers),
        input_timeout_s=max(1, round(settings.input_timeout_s)),
        while_running=app.config.settings.input_while_running,
        shares_groups=settings.groups == "shared",
        schema=settings.card_schema,
        web_url=(settings.web_url or "").rstrip("/"),
    )


def _check_library() -> None:
    if find_spec("lark_oapi") is None:
        how = say("Install it: {command}", command=install_command("lark-oapi"))
        raise CannotRun("coder feishu needs lark-oapi", how)


async def _change_link(action: str, host: Host, app_id: str) -> int:
    links = Links(host.key_value_store(f"feishu:{app_id}"))
    person = current_person().who
    if action == "unlink":
        await links.remove(person)
        sys.stdout.write(t("Your chat is no longer linked.") + "\n")
        return 0
    code = await links.offer(person, now())
    sys.stdout.write(
        t("Send this to the bot, in a chat with it alone, within ten minutes:") + f"\n\n  /link {code}\n\n"
    )
    sys.stdout.flush()
    until = time.monotonic() + CODE_SECONDS
    while time.monotonic() < until:
        if not await links.is_offered(code) and (link := await links.of_person(person)) is not None:
            told = t("Linked. What your sessions ask arrives in that chat from now on ({id}).", id=link.open_id)
            sys.stdout.write(f"{told}\n")
            return 0
        await asyncio.sleep(_LINK_PAUSE)
    sys.stderr.write(f"coder: {t('Nobody sent the code in time. Get another one with: coder feishu link')}\n")
    return 1


class BotState(Struct, frozen=True):
    """What `coder doctor` says of the bot: the variables that are not set, and the cards that could not be sent."""

    has_library: bool
    missing: tuple[str, ...]
    dead: Sequence[DeadLetter]


async def examine_bot(config: Config, env: Mapping[str, str]) -> BotState:
    """Raises StoreFailed if the log cannot be read."""
    settings = config.settings.feishu
    host = App(config, env).open()
    try:
        dead = await dead_letters(host.key_value_store(f"feishu:{settings.app_id}"))
    finally:
        await host.close()
    missing = () if env.get(settings.app_secret_env, "").strip() else (settings.app_secret_env,)
    return BotState(find_spec("lark_oapi") is not None, missing, sorted(dead, key=lambda each: -each.at))
