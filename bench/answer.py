"""A long answer as models write them: prose, lists, tables and code, in several scripts, in pieces like tokens."""

import re

_PART = """\
## Step {n}: the parser

The function **reads** every line once, see [the notes](https://example.com/notes/{n}), and keeps `state_{n}` for \
the next one. It is *linear* in the text, so long files are no problem; that matters 👍 when there are many of them.

- first, open the file and check `encoding` — nothing is guessed
- then split it into lines
  - empty ones are left out
  - comments too
- at last, close it

```python
def parse_{n}(text: str, limit: int = {n}) -> list[str]:
    \"\"\"Lines that say something.

    Comments are left out.
    \"\"\"
    lines = [line.rstrip() for line in text.splitlines()]  # no ends
    return [line for line in lines if line and not line.startswith("#")][:limit]
```

| name | 数量 | what it is for |
|------|-----:|:---------------|
| text | {n} | 要解析的文本 📄 |
| limit | {n} | how many lines, at most |

这一步先读取文件，然后逐行解析；如果出现错误，就停止并报告行号 {n}。标点符号不会出现在行首。

1. run `make test`
2. look at what it says

> Nothing is written before the checks are green.

"""
_TOKEN = re.compile(r"\s*[A-Za-z]{1,8}|\s*\S|\s+")


def pieces(count: int) -> list[str]:
    """So many, each about as long as a token."""
    found: list[str] = []
    number = 1
    while len(found) < count:
        found += _TOKEN.findall(_PART.format(n=number))
        number += 1
    return found[:count]
