import { lexer } from "marked";
import { expect, it } from "vitest";
import { GrowingBlocks } from "./blocks";

const TEXT = `# Title

A paragraph with **bold** text.

- one
- two

  with a paragraph
- three

\`\`\`python
def f():

    return 1
\`\`\`

| a | b |
| - | - |
| 1 | 2 |

> quote

1. x
2. y

The end.`;

it("gives the same blocks however a text grows", () => {
  const whole = lexer(TEXT)
    .filter((each) => each.type !== "space")
    .map((each) => each.raw.trim());
  for (const step of [1, 2, 3, 7, 50]) {
    const growing = new GrowingBlocks();
    let shown = growing.take("");
    for (let end = step; end < TEXT.length + step; end += step) shown = growing.take(TEXT.slice(0, end));
    expect([...shown.finished.map((each) => each.raw.trim()), shown.live.trim()]).toEqual(whole);
  }
});

it("starts anew with another text", () => {
  const growing = new GrowingBlocks();
  growing.take("# one\n\ntwo\n\nthree");
  expect(growing.take("other")).toEqual({ finished: [], live: "other" });
});
