"""`coder answer ASK_ID allow|deny|stop|TEXT`: answer an open ask from any shell.

The id may be shortened as long as it is unique. Answers to a permission request: allow (this once), session, project
or person (always: in this session, in this folder, everywhere), deny, stop. Answers to a question: a number, a label
or your own words, one for each question; deny, stop. Answers to a plan: smart, default, keep, or
what to change; stop.

The process that has the session open continues it. If there is none, this command continues it and prints the
model's answer.
"""

import sys

from coderelay.cli.startup.current_person import current_person
from coderelay.cli.startup.localized_argument_parser import HelpText, LocalizedArgumentParser
from coderelay.cli.startup.open_app import run_with_app
from coderelay.client.ask_view import headline, parse_answer
from coderelay.client.i18n import retell, t
from coderelay.host.host import Host
from coderelay.protocol.asks import DenyAndStop
from coderelay.protocol.commands import AnswerAsk, Answered, OpenSession
from coderelay.protocol.ids import SessionId
from coderelay.protocol.queries import FindAsk, ShowSession, WhyNotRun, WhyWaiting
from coderelay.surfaces.headless.exit_codes import PARKED
from coderelay.surfaces.headless.open_turn_follower import print_open_turns


def main(arguments: list[str]) -> int:
    parser = LocalizedArgumentParser(
        prog="coder answer",
        description=t(__doc__ or ""),
        allow_abbrev=False,
        formatter_class=HelpText,
    )
    parser.add_argument("ask", metavar="ASK_ID")
    parser.add_argument("answer", nargs="+", metavar="allow|deny|stop|TEXT")
    parser.add_argument(
        "--no-wait", action="store_true", help=t("answer and exit; the session continues when somebody opens it")
    )
    options = parser.parse_args(arguments)

    async def answer(host: Host) -> int:
        found = await host.get(FindAsk(options.ask))
        command = AnswerAsk(
            session=found.session,
            ask=found.ask.id,
            decision=parse_answer(found.ask, options.answer),
            by=current_person(),
        )
        outcome = await host.send(command)
        if isinstance(outcome, Answered):
            sys.stdout.write(_too_late(outcome))
            return 1
        sys.stdout.write(t("answered: {ask}", ask=headline(found.ask)) + "\n")
        is_stop = isinstance(command.decision, DenyAndStop)
        if options.no_wait and not is_stop:
            return 0
        if (reason := await host.get(WhyNotRun(found.session))) is not None:
            sys.stdout.write(t("interrupted; {reason}", reason=retell(reason)) + "\n")
            return 0
        code = await print_open_turns(host, found.session, outcome.head)
        if options.no_wait:
            return 0  # to end the turn takes no time, and nobody else may be there to do it
        return await _carry_on_parent(host, found.parent, code) if code != PARKED and found.parent else code

    return run_with_app(answer)


async def _carry_on_parent(host: Host, session: SessionId, code: int) -> int:
    """The process of the parent session goes on with the result of the task; if it is gone, this process does."""
    parent = await host.get(ShowSession(session))
    if await host.get(WhyWaiting(parent.id)) is None or await host.get(WhyNotRun(parent.id)) is not None:
        return code
    sys.stdout.write(t("continuing: {title}", title=parent.title) + "\n")
    await host.send(OpenSession(session=parent.id, by=current_person()))
    return await print_open_turns(host, parent.id, parent.head)


def _too_late(outcome: Answered) -> str:
    if outcome.by is None or outcome.decision is None:
        return t("too late: its turn has ended") + "\n"
    word = type(outcome.decision).__name__.lower()
    return t("too late: {by} already answered: {word}", by=outcome.by, word=word) + "\n"
