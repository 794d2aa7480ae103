// Lines of a change: from a unified diff, or from the texts before and after.

import type { ToolItem } from "../state/items";

export interface DiffRow {
  kind: "added" | "removed" | "same" | "hunk" | "file";
  text: string;
  /** The numbers of the line before and after the change, where they are known. */
  old?: number;
  now?: number;
}

/** Two rows beside each other; a row that goes over both sides stands in `whole`. */
export interface SplitRow {
  whole?: DiffRow;
  left?: DiffRow;
  right?: DiffRow;
}

const MOST_PAIRS = 250_000;

const HEADER = /^(diff |index |--- |new file|deleted file|similarity |dissimilarity |rename |copy |old mode|new mode|Binary files |GIT binary patch)/;

/** The rows of a unified diff, or of a patch in the envelope of `apply_patch`. A hunk says how many lines it has: within
 * it, `--- x` is the line `-- x` that is removed, and no header. */
export function rowsOfDiff(diff: string): DiffRow[] {
  const rows: DiffRow[] = [];
  const isEnvelope = diff.startsWith("*** Begin Patch");
  let [old, now, oldLeft, nowLeft] = [0, 0, 0, 0];
  let from = "";
  for (const line of diff.replace(/\n$/, "").split("\n")) {
    if ((oldLeft > 0 || nowLeft > 0) && !/^[-+ \\]|^$/.test(line)) [oldLeft, nowLeft] = [0, 0]; // shorter than it says
    const isInHunk = isEnvelope || oldLeft > 0 || nowLeft > 0;
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (hunk) {
      [old, now] = [Number(hunk[1]), Number(hunk[3])];
      [oldLeft, nowLeft] = [Number(hunk[2] ?? 1), Number(hunk[4] ?? 1)];
      rows.push({ kind: "hunk", text: line.replace(/^@@ (.*?) @@.*/, "$1") });
    } else if (line.startsWith("@@")) rows.push({ kind: "hunk", text: line.slice(2).trim() });
    else if (isEnvelope && line.startsWith("*** ")) {
      const named = /^\*\*\* (?:Add|Update|Delete) File: (.*)$/.exec(line);
      if (named) rows.push({ kind: "file", text: named[1]! });
    } else if (!isInHunk && line.startsWith("--- ")) from = nameIn(line, "a/");
    else if (!isInHunk && line.startsWith("+++ ")) rows.push({ kind: "file", text: line.startsWith("+++ /dev/null") ? from : nameIn(line, "b/") });
    else if ((!isInHunk && HEADER.test(line)) || line.startsWith("\\")) continue;
    else if (line.startsWith("+")) {
      rows.push({ kind: "added", text: line.slice(1), ...(now && { now: now++ }) });
      nowLeft--;
    } else if (line.startsWith("-")) {
      rows.push({ kind: "removed", text: line.slice(1), ...(old && { old: old++ }) });
      oldLeft--;
    } else {
      rows.push({ kind: "same", text: line.slice(1), ...(now && { old: old++, now: now++ }) });
      oldLeft--;
      nowLeft--;
    }
  }
  return rows.filter((each) => each.kind === "file").length > 1 ? rows : rows.filter((each) => each.kind !== "file");
}

function nameIn(header: string, prefix: string): string {
  const name = header.slice(4).replace(/\t.*$/, "");
  return name.startsWith(prefix) ? name.slice(prefix.length) : name;
}

/** Removed lines beside the added ones that follow them. */
export function splitRows(rows: readonly DiffRow[]): SplitRow[] {
  const split: SplitRow[] = [];
  let removed: DiffRow[] = [];
  let added: DiffRow[] = [];
  const flush = () => {
    for (let index = 0; index < Math.max(removed.length, added.length); index++)
      split.push({ ...(removed[index] && { left: removed[index] }), ...(added[index] && { right: added[index] }) });
    removed = [];
    added = [];
  };
  for (const row of rows) {
    if (row.kind === "removed") {
      if (added.length) flush();
      removed.push(row);
    } else if (row.kind === "added") added.push(row);
    else {
      flush();
      split.push(row.kind === "same" ? { left: row, right: row } : { whole: row });
    }
  }
  flush();
  return split;
}

/** A diff of several files, as git writes it, by the path of each file. */
export function filesOfDiff(diff: string): { path: string; diff: string }[] {
  return diff
    .split(/^(?=diff --git )/m)
    .filter((each) => each.trim())
    .map((part) => {
      const named = /^\+\+\+ b\/(.*)$/m.exec(part) ?? /^--- a\/(.*)$/m.exec(part) ?? /^diff --git a\/.* b\/(.*)$/m.exec(part);
      return { path: named?.[1] ?? "", diff: part };
    });
}

/** What an edit or a write changes, from its arguments; null if the tool changes no text. */
export function editedLines({ name, input }: Pick<ToolItem, "name" | "input">): DiffRow[] | null {
  if (name === "Edit") return rowsBetween(String(input.old_string ?? ""), String(input.new_string ?? ""));
  if (name === "Write") return rowsBetween("", String(input.content ?? ""));
  if (name === "MultiEdit" && Array.isArray(input.edits) && input.edits.length)
    return input.edits.flatMap((each: Record<string, unknown>, index: number): DiffRow[] => [
      ...(index ? [{ kind: "hunk", text: "" } as DiffRow] : []),
      ...rowsBetween(String(each?.old_string ?? ""), String(each?.new_string ?? "")),
    ]);
  if (name === "MultiEdit" && typeof input.patch === "string") return rowsOfDiff(input.patch);
  return null;
}

export function rowsBetween(before: string, after: string): DiffRow[] {
  const old = linesOf(before);
  const now = linesOf(after);
  let first = 0;
  while (first < old.length && first < now.length && old[first] === now[first]) first++;
  let last = 0;
  while (last < old.length - first && last < now.length - first && old.at(-1 - last) === now.at(-1 - last)) last++;
  const same = (texts: string[]) => texts.map((text): DiffRow => ({ kind: "same", text }));
  return [
    ...same(old.slice(0, first)),
    ...middle(old.slice(first, old.length - last), now.slice(first, now.length - last)),
    ...same(old.slice(old.length - last)),
  ];
}

/** The longest common subsequence, unless that would take too long. */
function middle(old: string[], now: string[]): DiffRow[] {
  const removed = (text: string): DiffRow => ({ kind: "removed", text });
  const added = (text: string): DiffRow => ({ kind: "added", text });
  if (old.length * now.length > MOST_PAIRS) return [...old.map(removed), ...now.map(added)];
  const width = now.length + 1;
  const common = new Uint32Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      common[i * width + j] =
        old[i] === now[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
  const rows: DiffRow[] = [];
  let i = 0;
  let j = 0;
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      rows.push({ kind: "same", text: old[i++]! });
      j++;
    } else if (j >= now.length || (i < old.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!)) {
      rows.push(removed(old[i++]!));
    } else rows.push(added(now[j++]!));
  }
  return rows;
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}
