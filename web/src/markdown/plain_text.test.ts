import { lexer } from "marked";
import { expect, it } from "vitest";
import { isTooMuch } from "./plain_text";

it.each(["> ".repeat(5000), ">".repeat(5000), "- ".repeat(5000), "1. ".repeat(5000), `fine\n\n${"_a*b".repeat(20_000)}`])(
  "a text that would hold up the page is not parsed: %#",
  (text) => expect(isTooMuch(text)).toBe(true),
);

it.each(["> > > quoted", "- ".repeat(20), `${"-".repeat(200)}\n`, "a paragraph\n\n".repeat(5000), `\`\`\`\n${"x".repeat(50_000)}\n\`\`\``])(
  "a text that people read is parsed: %#",
  (text) => {
    expect(isTooMuch(text)).toBe(false);
    expect(lexer(text).length).toBeGreaterThan(0);
  },
);
