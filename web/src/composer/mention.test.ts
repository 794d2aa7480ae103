import { expect, test } from "vitest";
import { completed, mentionAt } from "./mention";

test.each([
  ["look at @src/ca", 15, { kind: "file", start: 8, typed: "src/ca" }],
  ["@", 1, { kind: "file", start: 0, typed: "" }],
  ["mail me@example.org", 19, null],
  ["@cart and", 9, null],
  ["no", 2, null],
  ["/und", 4, { kind: "command", start: 0, typed: "und" }],
  ["/diff full", 10, null],
  ["see /etc", 8, null],
])("in %j the mention at %d is found", (text, cursor, expected) => {
  expect(mentionAt(text, cursor)).toEqual(expected);
});

test("a file is completed with a space after it, a folder is not", () => {
  const mention = { kind: "file" as const, start: 5, typed: "ca" };

  expect(completed("read @ca now", mention, 8, "src/cart.py")).toEqual({ text: "read @src/cart.py now", cursor: 18 });
  expect(completed("read @ca", mention, 8, "src/")).toEqual({ text: "read @src/", cursor: 10 });
  expect(completed("/un", { kind: "command", start: 0, typed: "un" }, 3, "undo")).toEqual({ text: "/undo ", cursor: 6 });
});
