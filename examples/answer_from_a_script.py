"""Start a session, allow it to change files, deny the rest, print the answer.

python examples/answer_from_a_script.py "write a haiku into haiku.txt"
"""

import sys

import coderelay
from coderelay.protocol.asks import PermissionAsk

with coderelay.connect(who="example") as coder:
    session = coder.start(sys.argv[1])
    while (ask := coder.next_ask(session)) is not None:
        allowed = isinstance(ask.ask, PermissionAsk) and ask.ask.need.kind == "edit"
        coder.answer(ask, "allow" if allowed else "deny")
    print(coder.wait(session).text)
