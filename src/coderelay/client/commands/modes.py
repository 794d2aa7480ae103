"""`/mode` and its short forms: permission modes."""

from coderelay.client.commands.slash_command import MODEL, Context, SlashCommand
from coderelay.client.i18n import t
from coderelay.protocol.bilingual_text import Localized
from coderelay.protocol.commands import ConfigureSession
from coderelay.protocol.errors import BadInput
from coderelay.protocol.modes import MODE_NAMES, MODES, ModeSpec, mode_called
from coderelay.protocol.queries import ShowSession


async def mode(here: Context, name: str) -> str:
    if not name:
        return t("mode: {mode}", mode=(await here.client.get(ShowSession(here.session))).mode)
    wanted = mode_called(name)
    if wanted is None:
        names = ", ".join(MODE_NAMES)
        raise BadInput(t("unknown mode {name}; choose one of {names}", name=repr(name), names=names))
    await here.client.send(ConfigureSession(session=here.session, mode=wanted, by=here.by))
    return t("mode: {mode}", mode=wanted)


_CHANGES_MODE = Localized(
    "Takes effect at the next tool call, even in a running turn; applies to this session only.",
    "从下一次工具调用起生效，正在运行的回合也一样；仅限本会话。",
)


def _short_form(spec: ModeSpec) -> SlashCommand:
    async def run(here: Context, _: str) -> str:
        return await mode(here, spec.name)

    return SlashCommand(name=spec.name, group=MODEL, text=spec.text, run=run, detail=_CHANGES_MODE)


COMMANDS = (
    SlashCommand(
        name="mode",
        group=MODEL,
        text=Localized("show or change the permission mode", "查看或切换权限模式"),
        run=mode,
        choices=MODE_NAMES,
        detail=_CHANGES_MODE,
        example="/mode plan",
    ),
    *map(_short_form, MODES),
)
