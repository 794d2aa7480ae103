"""What the scripted model does in the tests of the web app: the last prompt that names a story decides."""

import re

from tests.model_server import Answer, History, bash, call, proposes, says, write

MARKDOWN = """Found **two** causes.

```python
def load(path):
    return 1
```

<script>document.title = "owned"</script>

![pixel](https://evil.example/pixel.png) [bad](javascript:alert(1))

- one
- two
"""
QUESTION = {
    "question": "Which database?",
    "header": "Database",
    "options": [{"label": "SQLite", "description": "a file"}, {"label": "PostgreSQL", "description": "a server"}],
}
CHECKS = {
    "question": "Which checks?",
    "header": "Checks",
    "options": [{"label": "Types", "description": ""}, {"label": "Lint", "description": ""}],
    "multiSelect": True,
}
TITLER = "Give a title"
WAITING = "echo waiting; until [ -e go ]; do sleep 0.05; done; echo over"


def decide(history: History) -> Answer:
    """The last prompt that names a story decides which; the results since then say how far it is."""
    at, story = -1, ""
    for index, said in enumerate(history):
        if said.role == "user" and (found := re.search(r"story:(\w+)", said.text)):
            at, story = index, found[1]
    if any(said.role == "system" and said.text.startswith(TITLER) for said in history):
        return says("Named by a model" if story == "named" else "")
    return _story(story, sum(said.role == "tool" for said in history[at + 1 :]), history)


def _story(story: str, results: int, history: History) -> Answer:
    match story, results:
        case "markdown", _:
            return says(MARKDOWN, thinking="Two reads. That is one too many.")
        case "slow", _:
            return says(" ".join(f"word{number}" for number in range(400)), token_delay=0.05)
        case "steady", _:
            return says(" ".join(f"word{number}" for number in range(100)), token_delay=0.05)
        case "command", 0:
            return proposes(bash("printf 'l1\\nl2\\nl3\\nl4\\nl5\\n' > made.txt && cat made.txt"))
        case "pair", 0:
            return proposes(bash("touch first.txt"), bash("touch second.txt"))
        case "edit", 0:
            return proposes(call("edit", path="cart.py", old="total = 0", new="total = 1"), write("new.txt", "new\n"))
        case "long", 0:
            return proposes(bash("\n".join(f"touch file{number}" for number in range(20))))
        case "sql", 0:
            return proposes(call("edit", path="q.sql", old="-- every row\nselect 1;", new="++ rows;\nselect 2;"))
        case "deep", _:
            return says("> " * 20_000 + "the bottom")
        case "wait", 0:
            todos = [{"content": "Begin", "status": "completed"}, {"content": "Wait", "status": "in_progress"}]
            return proposes(call("todo", items=todos), bash(WAITING))
        case "task", 0:
            return proposes(call("task", description="look around", prompt="story:none within the task"))
        case "question", 0:
            return proposes(call("ask_user", questions=[QUESTION]))
        case "plan", 0:
            return proposes(call("plan_exit", plan="1. Read it **once**\n2. Run the tests"))
        case "checks", 0:
            return proposes(call("ask_user", questions=[CHECKS, QUESTION]))
        case "echo", _:
            return says([said.text for said in history if said.role == "user"][-1])
        case (("question" | "checks"), _):
            return says(f"You said {[said.text for said in history if said.role == 'tool'][-1]}")
        case _:
            return says("All done.")
