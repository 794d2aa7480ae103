"""The REPL at a terminal: how soon it is there, what a long answer costs, how large it gets.

The floors: prompt_toolkit and nothing else, for the prompt; the same job without a terminal, for the others.
"""

from collections.abc import Sequence
from statistics import median

from bench.answer import pieces
from bench.compare import alternate
from bench.job import job
from bench.lab import CODER, YOLO, Lab, Ran, lab
from bench.processes import BARE_PROMPT
from bench.server import Answer, answer
from bench.table import INFORMATIONAL, Row, at_most, at_most_times
from bench.terminal import terminal
from tests.model_server import says
from tests.model_server.pieces import words

PROMPT, OPEN = "❯", " tokens · "
TOKENS, MESSAGES = 20_000, 2000
LAST = "That was all of it."
_LEAVE = "\x04"


def measure() -> list[Row]:
    streamed = [answer(says(f"{_long_text()}\n\n{LAST}"), events_per_write=8)]
    steps = [*job(MESSAGES // 2)[:-1], answer(says(LAST))]
    with lab() as here:
        here.home.mkdir()
        (here.home / "config.json").write_text(f'{{"max_steps": {len(steps)}}}')
        first = alternate(15, lambda: _first_prompt(here, CODER), lambda: _first_prompt(here, BARE_PROMPT))
        opened = [_first_prompt(here, CODER, OPEN) for _ in range(10)]
        tokens = alternate(5, lambda: _turn(here, streamed), lambda: here.coder(streamed))
        long = alternate(1, lambda: _turn(here, steps, *YOLO), lambda: here.coder(steps, *YOLO), warm_up=0)
    cpu = tokens.median(lambda ran: ran.cpu)
    return [
        Row("first prompt of the REPL (floor: prompt_toolkit alone)", "ms", *first.median(float), at_most_times(1.3)),
        Row("- the session behind it is open", "ms", median(opened), None, INFORMATIONAL),
        Row("20,000 tokens drawn in the REPL, CPU (floor: coder -p)", "s", *cpu, at_most(0.9, "s"), cpu),
        Row(
            "2,000-message session in the REPL, peak memory (floor: coder -p)",
            "MB",
            *long.median(lambda ran: ran.rss),
            INFORMATIONAL,
            long.median(lambda ran: ran.cpu),
        ),
    ]


def _long_text() -> str:
    """So many pieces as the scripted server cuts it, which are longer than those that the text is made of."""
    return "".join(words("".join(pieces(3 * TOKENS)))[:TOKENS])


def _first_prompt(here: Lab, argv: Sequence[str], shown: str = PROMPT) -> float:
    """Milliseconds until it is there."""
    here.server.play(())
    with terminal() as screen:
        pid, began = here.start(argv, screen.name)
        there = screen.wait_for(shown)
        screen.type(_LEAVE)
        here.wait(pid, began)
    return (there - began) * 1000


def _turn(here: Lab, answers: Sequence[Answer], *arguments: str) -> Ran:
    here.server.play(answers)
    with terminal() as screen:
        pid, began = here.start([*CODER, *arguments], screen.name)
        screen.wait_for(PROMPT)
        screen.type("hi\r")
        screen.wait_for(LAST)
        screen.type(_LEAVE)
        return here.wait(pid, began)
