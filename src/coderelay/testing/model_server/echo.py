"""The model for people without a script: a few fixed rules on the last message."""

from coderelay.testing.model_server.answers import Answer, bash, proposes, read, says, tokens, write
from coderelay.testing.model_server.wire_form import History
from coderelay.testing.prompts import without_notes

RULES = """\
  run: CMD            proposes bash CMD
  read: PATH          proposes read PATH
  write: PATH TEXT    proposes write PATH TEXT
  tokens: N           streams N tokens
  (a tool result)     says "done: " and the first line of the result
  anything else       is said back\
"""


def echo(history: History) -> Answer:
    last = history[-1]
    if last.role == "tool":
        return says("done: " + last.text.partition("\n")[0])
    text = without_notes(last.text)
    verb, _, rest = text.partition(": ")
    match verb:
        case "run":
            return proposes(bash(rest))
        case "read":
            return proposes(read(rest))
        case "write":
            path, _, content = rest.partition(" ")
            return proposes(write(path, content))
        case "tokens" if rest.isdecimal():
            return tokens(int(rest))
        case _:
            return says(text)
