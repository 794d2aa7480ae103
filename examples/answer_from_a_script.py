"""Start a session, allow what it may do, deny the rest, print the answer.

python examples/answer_from_a_script.py "write a haiku into haiku.txt"
"""

import sys
import time

import coderelay
from coderelay.protocol.asks import PermissionAsk


def main() -> None:
    with coderelay.connect(who="example") as coder:
        session = coder.start(sys.argv[1])
        while coder.session(session).turn_open or coder.session(session).queued:
            for ask in coder.asks(session):
                allowed = isinstance(ask.ask, PermissionAsk) and ask.ask.need.kind == "edit"
                coder.answer(ask, "allow" if allowed else "deny")
            time.sleep(0.05)
        print(coder.wait(session).text)


main()
