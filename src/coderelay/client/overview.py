"""Tools, skills and what fills the window, as text."""

from coderelay.protocol.overview import ContextShown, SkillShown, SkillsShown, ToolShown

_LINE = 100


def tools_in_words(tools: list[ToolShown]) -> str:
    if not tools:
        return "this agent has no tools"
    name = max(len(each.name) for each in tools)
    kind = max(len(each.kind) for each in tools)
    return "\n".join(f"{each.name.ljust(name)}  {each.kind.ljust(kind)}  {_about(each)}" for each in tools)


def _about(tool: ToolShown) -> str:
    return f"({tool.off})" if tool.off else _line(_first_sentence(tool.description))


def _first_sentence(text: str) -> str:
    sentence, dot, _ = " ".join(text.split()).partition(". ")
    return f"{sentence}." if dot else sentence


def skills_in_words(shown: SkillsShown) -> str:
    lines = [line for each in shown.found for line in _skill(each)] or ["there are no skills"]
    return "\n".join([*lines, *(f"({note})" for note in shown.notes)])


def _skill(skill: SkillShown) -> list[str]:
    whose = "your own" if skill.own else "this folder's"
    chosen = f", only for /{skill.name}" if skill.by_name_only else ""
    return [f"/{skill.name}  {_line(skill.description)}", f"  {whose}{chosen}: {skill.file}"]


def context_in_words(shown: ContextShown) -> str:
    used = sum(tokens for _, tokens in shown.parts)
    rows = [*shown.parts, *([("free", max(0, shown.window - used))] if shown.window else [])]
    name = max((len(part) for part, _ in rows), default=0)
    number = max((len(f"{tokens:,}") for _, tokens in rows), default=0)
    lines = [
        f"  {part.ljust(name)}  {f'{tokens:,}'.rjust(number)}{_share(tokens, shown.window)}" for part, tokens in rows
    ]
    of = f" of {shown.window:,}" if shown.window else ""
    how = "as its provider counted; how they are shared out is a guess" if shown.counted else "a guess"
    return "\n".join([f"{shown.model}: {used:,}{of} tokens, {how}", *lines])


def _share(tokens: int, window: int) -> str:
    return f"  {100 * tokens / window:5.1f} %" if window else ""


def _line(text: str) -> str:
    return text if len(text) <= _LINE else f"{text[: _LINE - 1]}…"
