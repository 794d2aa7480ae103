"""One of those that are compared: the jobs, what it took for them, and what went wrong."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from msgspec import Struct

from bench.job import KINDS
from bench.lab import Ran
from bench.peers import job
from bench.peers.lab import Failed, PeerLab

STEPS_OF_A_KIND = job.STEPS // len(KINDS)


class Job(Struct, frozen=True):
    name: str
    times: int
    run: Callable[[PeerLab], Ran]


TURN = Job("one turn", 7, lambda lab: lab.run(job.trivial(lab.peer)))
VERSION = Job("--version", 5, PeerLab.ask_version)
STEPS = Job(f"{job.STEPS} steps", 4, lambda lab: lab.run(job.steps(lab.peer, lab.work)))
TOKENS = Job(f"{job.TOKENS:,} tokens", 3, lambda lab: lab.run(job.tokens(lab.peer)))


class Contestant:
    def __init__(self, lab: PeerLab) -> None:
        self.name = lab.peer.name
        self.version = lab.version()
        self._lab = lab
        self._ran: defaultdict[str, list[Ran]] = defaultdict(list)
        self._failures: dict[str, str] = {}
        self._undone: Counter[str] = Counter()
        self._jobs_with_steps = 0

    def take(self, todo: Job, *, counts: bool) -> None:
        """Who cannot do one turn is not asked for more."""
        if {TURN.name, todo.name} & self._failures.keys() or (todo is VERSION and not self.version):
            return
        try:
            ran = todo.run(self._lab)
            if todo is STEPS:
                self._check(ran)
        except Failed as failure:
            self._failures[todo.name] = str(failure)
            return
        if counts:
            self._ran[todo.name].append(ran)

    def ran(self, done: Job) -> Sequence[Ran]:
        """Nothing if it failed, even if only once."""
        return () if done.name in self._failures else tuple(self._ran[done.name])

    def notes(self) -> list[str]:
        made = [f"{what}: {why}" for what, why in self._failures.items()]
        steps = self._jobs_with_steps * STEPS_OF_A_KIND
        made += [f"{count} of {steps} {kind} steps had no effect" for kind, count in self._undone.items()]
        if self._lab.sought:
            made.append(f"looked for {', '.join(sorted(self._lab.sought))}, in vain")
        return made

    def _check(self, ran: Ran) -> None:
        """One lost now and then is the peer's own doing; all of a kind, and we have called it by a wrong name."""
        undone = Counter(job.undone(ran.exchanges, self._lab.work))
        if never := [kind for kind in KINDS if undone[kind] == STEPS_OF_A_KIND]:
            raise Failed(f"no {' or '.join(never)} step had an effect")
        self._undone += undone
        self._jobs_with_steps += 1
