"""Waiting times from the limits of the platform."""

from coderelay.surfaces.feishu.rate_limits import RateLimit, RateLimits, call_limits, card_limit, chat_limit


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def times(limits: RateLimits, clock: Clock, count: int, *wanted: RateLimit) -> list[float]:
    """When so many calls at once are made."""
    return [round(clock.now + limits.reserve(*wanted) - 100, 6) for _ in range(count)]


def most_within(moments: list[float], seconds: float) -> int:
    return max(sum(1 for each in moments if at <= each < at + seconds) for at in moments)


def test_calls_for_one_chat_are_spaced_and_those_for_others_do_not_wait() -> None:
    clock = Clock()
    limits = RateLimits(clock)
    assert times(limits, clock, 3, chat_limit("a")) == [0, 0.3, 0.6]
    assert times(limits, clock, 1, chat_limit("b")) == [0]
    clock.now += 10
    assert times(limits, clock, 2, chat_limit("a")) == [10, 10.3]


def test_the_slowest_limit_decides_and_all_are_used_up() -> None:
    clock = Clock()
    limits = RateLimits(clock)
    slow, fast = RateLimit("slow", 1.0), RateLimit("fast", 0.1)
    assert times(limits, clock, 3, slow, fast) == [0, 1, 2]
    assert times(limits, clock, 1, fast) == [2.1]


def test_e21_a_thousand_calls_of_a_kind_stay_below_the_platforms_limits() -> None:
    clock = Clock()
    limits = RateLimits(clock)
    moments = [
        round(clock.now + limits.reserve(chat_limit(str(number)), *call_limits("create")) - 100, 6)
        for number in range(3000)
    ]
    assert most_within(moments, 1) <= 50
    assert most_within(moments, 60) <= 1000
    cards = times(limits, clock, 200, card_limit("c"))
    assert most_within(cards, 1) <= 10
    chats = times(limits, clock, 200, chat_limit("c"))
    assert most_within(chats, 1) <= 5


def test_what_is_long_past_is_forgotten() -> None:
    clock = Clock()
    limits = RateLimits(clock)
    for number in range(20_000):
        clock.now += 0.1
        limits.reserve(chat_limit(str(number)))
    assert len(limits._free_at) < 6000  # pyright: ignore[reportPrivateUsage]
