"""The cards of a chat, as layouts: notices, answers, results and refusals. Cards of asks are in `ask_cards`.

They are written in the language that is spoken when they are made (`speaking`), which is Chinese unless the person
has configured another, whatever the locale of the machine.
"""

from collections.abc import Sequence

from coderelay.client.i18n import localize, retell
from coderelay.protocol.bilingual_text import Localized
from coderelay.protocol.events import Ending, TurnEnded
from coderelay.surfaces.feishu.card_layout import (
    MOST_BYTES,
    Buttons,
    Colour,
    Layout,
    LinkButton,
    Paragraph,
    Part,
    StreamedText,
    cut,
)

RUNNING = Localized("Working on it...", "正在执行任务...")
CONTINUING = Localized("Continuing...", "继续执行...")
DONE = Localized("Task done", "任务完成")
TIMED_OUT = Localized("Timed out and cancelled", "操作超时，已取消")
_ENDINGS: dict[Ending, tuple[Localized, Colour]] = {
    "done": (DONE, "green"),
    "failed": (Localized("Task failed", "任务失败"), "red"),
    "stopped": (Localized("Stopped", "已停止"), "grey"),
    "step_limit": (Localized("Stopped at the step limit", "已达到步数上限，任务停止"), "orange"),
}
_OPEN_WEB = Localized("Open on the web", "在网页中打开")
_STEPS = Localized("{seconds} s, {steps} steps", "用时 {seconds} 秒，共 {steps} 步")
_FROM = Localized("From {who}: {text}", "来自 {who}：{text}")
_EARLIER = Localized("… {count} earlier", "… 之前还有 {count} 项")
_CONTINUED = Localized("(continued)", "（续）")
_REST_ON_WEB = Localized(
    "The text is too long for a chat; the rest is on the web.", "内容过长，其余部分请在网页中查看。"
)
_TOOLS = 12
_PROMPT_BYTES = 300
_TOOL_BYTES = 200


def running_card(
    notice: Localized,
    *,
    text: str = "",
    tools: Sequence[str] = (),
    prompt: str = "",
    page: int = 1,
    is_over: bool = False,
) -> Layout:
    """A segment of a turn: what tools did, and what the agent says while it says it. `prompt` is set if somebody
    began the turn elsewhere."""
    title = localize(notice) + (localize(_CONTINUED) if page > 1 else "")
    parts: list[Part] = [Paragraph(prompt, is_small=True)] if prompt else []
    if tools:
        parts.append(Paragraph(_tool_lines(tools), is_small=True))
    if is_over:
        parts += [Paragraph(text)] if text else []
        return Layout(title, "grey", tuple(parts), summary=text or title)
    return Layout(title, "blue", (*parts, StreamedText(text)), summary=title, is_streaming=True)


def prompt_from(who: str, text: str) -> str:
    """The line for a prompt that was sent from another surface or by another person."""
    return localize(_FROM, who=who, text=cut(" ".join(text.split()), _PROMPT_BYTES))


def result_card(ended: TurnEnded, *, is_timed_out: bool = False, url: str = "", is_cut: bool = False) -> Layout:
    """How a turn ended. The answer itself is in the card before."""
    words, colour = (TIMED_OUT, "orange") if is_timed_out else _ENDINGS[ended.ending]
    title = localize(words)
    parts: list[Part] = []
    if ended.error:
        parts.append(Paragraph(cut(retell(ended.error, ended.said), MOST_BYTES // 4)))
    if is_cut:
        parts.append(Paragraph(localize(_REST_ON_WEB)))
    if ended.steps:
        parts.append(Paragraph(localize(_STEPS, seconds=round(ended.ms / 1000), steps=ended.steps), is_small=True))
    return Layout(title, colour, (*parts, *web_link(url)), summary=title)


def notice_card(title: str, text: str = "", *, colour: Colour = "grey") -> Layout:
    parts: tuple[Part, ...] = (Paragraph(cut(text, MOST_BYTES)),) if text else ()
    return Layout(title, colour, parts, summary=title)


def web_link(url: str) -> tuple[Part, ...]:
    return (Buttons((LinkButton(localize(_OPEN_WEB), url),)),) if url else ()


def _tool_lines(tools: Sequence[str]) -> str:
    left = len(tools) - _TOOLS
    lines = [cut(" ".join(each.split()), _TOOL_BYTES) for each in tools[-_TOOLS:]]
    return "\n".join([localize(_EARLIER, count=left), *lines] if left > 0 else lines)
