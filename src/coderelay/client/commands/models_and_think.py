"""`/model`, `/models` and `/think`: the model of a session, and how much it thinks."""

from difflib import get_close_matches
from typing import get_args

from coderelay.client.client import Client
from coderelay.client.commands.slash_command import MODEL, Context, SlashCommand
from coderelay.client.i18n import retell, t
from coderelay.client.typed_model_name import GUIDE, NATIVE, agent_for, with_provider
from coderelay.protocol.bilingual_text import Localized
from coderelay.protocol.commands import ConfigureSession
from coderelay.protocol.errors import BadInput
from coderelay.protocol.ids import SessionId
from coderelay.protocol.queries import ListModels, ListServedModels, ShowSession, WhyNotRun
from coderelay.protocol.query_results import ModelShown
from coderelay.protocol.session_setting_values import Think
from coderelay.protocol.text_escaping_and_width import padded, width_of

_NEAREST = 3


async def model(here: Context, name: str) -> str:
    current = await here.client.get(ShowSession(here.session))
    if not name:
        models, problem = await everything_offered(here.client, here.session)
        return "\n".join(filter(None, (_listed(here, models, current.model), problem)))
    wanted = await _numbered(here, int(name)) if name.isdecimal() else with_provider(name, current.model)
    agent = agent_for(wanted, current.agent)
    if (wanted, agent) == (current.model, current.agent):
        return t("model: {model}", model=wanted)  # writes nothing: picking the current model is a way to cancel
    problem = await here.client.get(WhyNotRun(here.session, model=wanted, agent=agent))
    if problem is not None:
        raise BadInput(problem)
    change = ConfigureSession(session=here.session, model=wanted, agent=agent, by=here.by)
    if agent not in (NATIVE, GUIDE):  # only that agent can use this model, so it is not remembered for other sessions
        await here.client.send(change)
        return t("model: {model}", model=wanted)
    known = [each.name for each in await offered(here.client, here.session)]
    if wanted not in known:
        known += [each.name for each in (await here.client.get(ListServedModels(here.session))).found]
    doubt = _unknown_model_warning(wanted, known)
    await here.client.send(change)
    warning = here.remember_model(current.cwd, wanted)
    return "\n".join(filter(None, (doubt, t("model: {model}", model=wanted), warning)))


async def offered(client: Client, session: SessionId) -> list[ModelShown]:
    """The models that a person may choose from: the one in use first, even if no provider lists it."""
    guide = ModelShown(GUIDE, t("built-in guide, always available; needs no model"))
    found = {each.name: each for each in (*await client.get(ListModels(session)), guide)}
    current = (await client.get(ShowSession(session))).model
    return [found.pop(current, ModelShown(current, "")), *found.values()]


async def everything_offered(client: Client, session: SessionId) -> tuple[list[ModelShown], str]:
    """The models that a person may choose from, with those that the server of the model in use lists; and why these
    are not known, if they are not."""
    known, served = await offered(client, session), await client.get(ListServedModels(session))
    found = {each.name: each for each in (*known[:-1], *served.found, known[-1])}  # the guide stays last
    problem = (
        t("(without the models that the server lists: {problem})", problem=retell(served.problem))
        if served.problem
        else ""
    )
    return [*found.values()], problem


def _unknown_model_warning(wanted: str, known: list[str]) -> str:
    """A provider may have models that are not listed, so an unknown name is accepted, but with this warning."""
    if wanted in known:
        return ""
    by_name = {each.rpartition(":")[2]: each for each in reversed(known)}
    near = get_close_matches(wanted.rpartition(":")[2], by_name, _NEAREST)
    if not near:
        return t("{model} is not a known model; using it anyway", model=wanted)
    names = ", ".join(by_name[each] for each in near)
    return t(
        "{model} is not a known model (similar: {names}); using it anyway",
        model=wanted,
        names=names,
    )


async def _numbered(here: Context, number: int) -> str:
    shown = here.numbered.get("model")
    if not shown:
        shown = [each.name for each in (await everything_offered(here.client, here.session))[0]]
    if not 1 <= number <= len(shown):
        raise BadInput(t("no model {number} in the list; /model lists the models", number=number))
    return shown[number - 1]


def _listed(here: Context, offered: list[ModelShown], current: str) -> str:
    here.numbered["model"] = [each.name for each in offered]
    name = max(width_of(each.name) for each in offered)
    size = max(len(_window(each)) for each in offered)
    price = max(len(_price(each)) for each in offered)
    lines = [
        f"{'*' if each.name == current else ' '}{number:3}. {padded(each.name, name)}  {_window(each):>{size}}"
        f"  {padded(_price(each), price)}  {each.source}"
        for number, each in enumerate(offered, 1)
    ]
    how = t("choose one with /model N, or any other with /model provider:name")
    return "\n".join([current, *lines, how])


def _window(model: ModelShown) -> str:
    tokens = model.window
    if tokens >= 1_000_000:
        return f"{tokens / 1_000_000:.3g}M"
    return f"{tokens / 1000:.0f}k" if tokens else ""


def _price(model: ModelShown) -> str:
    if model.input_price is None or model.output_price is None:
        return t("price unknown") if model.window else ""
    return t("${input} in, ${output} out", input=f"{model.input_price:g}", output=f"{model.output_price:g}")


_LEVELS: dict[str, Think] = {each: each for each in get_args(Think)}


async def think(here: Context, level: str) -> str:
    if not level:
        return t("think: {level}", level=(await here.client.get(ShowSession(here.session))).think)
    wanted = _LEVELS.get(level)
    if wanted is None:
        raise BadInput(t("unknown level {name}; choose one of {names}", name=repr(level), names=", ".join(_LEVELS)))
    await here.client.send(ConfigureSession(session=here.session, think=wanted, by=here.by))
    return t("think: {level}", level=wanted)


COMMANDS = (
    SlashCommand(
        name="model",
        group=MODEL,
        text=Localized(
            "list the available models, or switch to another one, also for later sessions in this folder",
            "列出可用模型或切换模型；本目录后续会话沿用",
        ),
        run=model,
        hint="[NAME|N]",
        detail=Localized(
            "The list has the known models and those that the server of the current model offers. A choice takes "
            "effect at once and is saved in `.coder/config.json` for later sessions. Choosing the current model "
            "changes nothing.",
            "列表包括已知的模型以及当前模型的服务器所提供的模型。选择立即生效，并写入 `.coder/config.json` "
            "供后续会话沿用。选择当前模型则不作改动。",
        ),
        example="/model deepseek:deepseek-flash",
        completes="model",
    ),
    SlashCommand(
        name="think",
        group=MODEL,
        text=Localized("show or set how much the model thinks before it answers", "查看或设置模型回答前的思考强度"),
        run=think,
        choices=tuple(_LEVELS),
        detail=Localized(
            "Takes effect at the next request to the model; applies to this session only.",
            "从下一次请求起生效，仅限本会话。",
        ),
        example="/think high",
        remote=True,
    ),
)
