import { expect, it } from "vitest";
import { joinedAnswer } from "../asks/joined_answer";
import { editedLines, filesOfDiff, rowsBetween, rowsOfDiff, splitRows } from "./line_diff";

const short = (rows: { kind: string; text: string }[]) => rows.map((each) => `${each.kind} ${each.text}`);

it("finds the changed lines between two texts", () => {
  expect(short(rowsBetween("a\nb\nc\nd\n", "a\nB\nc\nx\nd\n"))).toEqual([
    "same a",
    "removed b",
    "added B",
    "same c",
    "added x",
    "same d",
  ]);
});

it("gives every line back that it was given", () => {
  const texts = ["", "a", "a\nb", "b\na", "a\na\nb", "x\ny\nz\nx"];
  for (const before of texts)
    for (const after of texts) {
      const rows = rowsBetween(before, after);
      const side = (kind: string) => rows.filter((each) => each.kind === "same" || each.kind === kind).map((each) => each.text).join("\n");
      expect([side("removed"), side("added")]).toEqual([before, after]);
    }
});

it("reads a unified diff", () => {
  const diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ def f\n same\n-old\n+new\n\\ No newline at end of file\n";
  expect(short(rowsOfDiff(diff))).toEqual(["hunk -1,2 +1,2", "same same", "removed old", "added new"]);
});

it("shows lines that look like headers of a diff", () => {
  const diff = "--- a/q.sql\n+++ b/q.sql\n@@ -1,3 +1,3 @@\n select 1;\n--- all rows\n-drop\n+++ counter;\n+keep\n--- a/r.sql\n+++ b/r.sql\n@@ -1 +1 @@\n-a\n+b\n";
  expect(short(rowsOfDiff(diff))).toEqual([
    "file q.sql",
    "hunk -1,3 +1,3",
    "same select 1;",
    "removed -- all rows",
    "removed drop",
    "added ++ counter;",
    "added keep",
    "file r.sql",
    "hunk -1 +1",
    "removed a",
    "added b",
  ]);
});

it("reads a patch in the envelope of apply_patch", () => {
  const patch = "*** Begin Patch\n*** Update File: a.sql\n@@ select\n one\n--- old\n+new\n*** Delete File: b.txt\n*** End Patch\n";
  expect(short(rowsOfDiff(patch))).toEqual(["file a.sql", "hunk select", "same one", "removed -- old", "added new", "file b.txt"]);
});

it("ends a hunk that is shorter than it says at the next file", () => {
  const diff = "--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n-old\ndiff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n";
  expect(short(rowsOfDiff(diff))).toEqual(["file x", "hunk -1,9 +1,9", "removed old", "file y", "hunk -1 +1", "removed a", "added b"]);
});

it("knows which tools change text", () => {
  expect(editedLines({ name: "Bash", input: { command: "ls" } })).toBeNull();
  expect(short(editedLines({ name: "Write", input: { content: "x\n" } })!)).toEqual(["added x"]);
});

it("joins the answers to a question with a comma, free text last (B-60)", () => {
  expect(joinedAnswer(["Types", "Lint"], " and docs ")).toBe("Types, Lint, and docs");
  expect(joinedAnswer(["SQLite"], "")).toBe("SQLite");
});

const TWO_FILES = `diff --git a/a.py b/a.py
index 1..2 100644
--- a/a.py
+++ b/a.py
@@ -1,3 +1,3 @@
 def a():
-    x = 1
-    y = 2
+    x = 3
     return x
diff --git a/old.txt b/old.txt
deleted file mode 100644
--- a/old.txt
+++ /dev/null
@@ -1 +0,0 @@
-gone
`;

it("a diff of several files is cut into files, also those that are deleted", () => {
  expect(filesOfDiff(TWO_FILES).map((each) => each.path)).toEqual(["a.py", "old.txt"]);
});

it("lines have their numbers, and stand side by side where they replace each other", () => {
  const rows = rowsOfDiff(filesOfDiff(TWO_FILES)[0]!.diff);

  expect(splitRows(rows).map(({ left, right, whole }) => [whole?.text, left?.old, left?.text, right?.now, right?.text])).toEqual([
    ["-1,3 +1,3", undefined, undefined, undefined, undefined],
    [undefined, 1, "def a():", 1, "def a():"],
    [undefined, 2, "    x = 1", 2, "    x = 3"],
    [undefined, 3, "    y = 2", undefined, undefined],
    [undefined, 4, "    return x", 3, "    return x"],
  ]);
});
