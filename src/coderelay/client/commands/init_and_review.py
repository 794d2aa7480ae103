"""`/init` and `/review`: ready-made prompts for work that people often ask for."""

from coderelay.client.commands.slash_command import WORK, Context, SlashCommand
from coderelay.client.typed_line import PromptToSend
from coderelay.protocol.bilingual_text import Localized

_INIT = """\
Write AGENTS.md at the top of this project: what a coding agent must know to work here from the first minute.

Look first: the README and other documents, the build and package files, the CI configuration, the layout of the \
folders, some typical source and test files, and instructions for other agents if there are any (CLAUDE.md, \
.cursorrules, .github/copilot-instructions.md).

Then write, in at most 60 lines, only what this project has and what cannot be guessed:
- what it is, in a sentence or two, and where things are: the important folders and files, and how they depend on \
each other
- the exact commands to set it up, build it, run it, check its style and test it, also how to run a single test
- the conventions that its code really follows: style, names, errors, tests, commits
- traps, and what must never be done here

Check each command against the files that define it. Leave out general advice and anything you did not find here. \
If there is an AGENTS.md already, improve it: keep what is right, correct what is not, add what is missing, and say \
what you changed. Change no other file."""
_REVIEW = """\
Review {what}. Change nothing.

Read the diff, and as much of the code around it as you need to judge it: who calls what was changed, which tests \
cover it. Look above all for what is wrong: mistakes in logic, cases that were forgotten, errors that are swallowed, \
races, resources that leak, holes in security, promises to callers that are broken, tests that are missing or cannot \
fail. Then for what makes the code hard to read, measured by the code around it.

Report what you found, the most serious first: file and line, what goes wrong and when, how to mend it. Verify each \
one before you report it, and say how sure you are where you could not. No praise, and nothing that a formatter or a \
linter would find. If there is nothing serious, say so in a sentence."""
_HERE = """\
what has changed in the working tree since the last commit, new files that git does not know yet included (git \
status, git diff HEAD)"""


async def init(_: Context, wish: str) -> PromptToSend:
    return PromptToSend(init_prompt(wish))


async def review(_: Context, of: str) -> PromptToSend:
    return PromptToSend(review_prompt(of))


COMMANDS = (
    SlashCommand(
        name="init",
        group=WORK,
        text=Localized(
            "analyze the project and write AGENTS.md, or improve the existing one", "分析项目并编写或改进 AGENTS.md"
        ),
        run=init,
        hint="[TEXT]",
        detail=Localized(
            "Sends a prompt; the usual permissions apply to what the agent writes.",
            "发送一个提示；agent 的写入仍照常审批。",
        ),
        example="/init in German",
    ),
    SlashCommand(
        name="review",
        group=WORK,
        text=Localized(
            "review the changes since the last commit, or in a range like main..HEAD",
            "评审自上次提交以来的改动，或 main..HEAD 这样的范围",
        ),
        run=review,
        hint="[RANGE]",
        detail=Localized(
            "Sends a prompt that tells the agent to change nothing.", "发送一个提示，要求 agent 不作任何改动。"
        ),
        example="/review main..HEAD",
        remote=True,
    ),
)


def init_prompt(wish: str) -> str:
    return f"{_INIT}\n\nThe person adds: {wish}" if wish else _INIT


def review_prompt(of: str) -> str:
    """`of` is a range of commits, or any other text that says what to review."""
    return _REVIEW.format(what=f"these changes: {of}" if of else _HERE)
