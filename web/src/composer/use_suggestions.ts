import { type KeyboardEvent, type RefObject, useEffect, useMemo, useState } from "react";
import { useStore } from "../store";
import { useFiles } from "../panel/use_files";
import { matching } from "../panel/file_tree";
import type { SessionRow } from "../contract/server_events";
import { completed, mentionAt } from "./mention";
import type { Suggestion } from "./Suggestions";

const MOST = 12;

/** Files for the `@` at the cursor. `press` takes the keys that move in the list and choose from it. */
export function useSuggestions(row: SessionRow, text: string, field: RefObject<HTMLTextAreaElement | null>, onChange: (text: string) => void) {
  const [cursor, setCursor] = useState(0);
  const [chosen, setChosen] = useState(0);
  const [dismissed, setDismissed] = useState(-1); // where the list was closed
  const files = useStore((state) => state.sessions[row.id]?.files ?? null);
  const mention = mentionAt(text, cursor);
  const isOpen = mention !== null && mention.start !== dismissed;
  useFiles({ row, files }, isOpen);
  const typed = isOpen ? mention.typed : null;
  const found = useMemo(
    (): Suggestion[] =>
      typed === null || !files
        ? []
        : matching(files.paths, typed, MOST).map((path) => ({ value: path, label: path, kind: path.endsWith("/") ? "folder" : "file" })),
    [files, typed],
  );
  useEffect(() => setChosen(0), [typed]);
  const choose = (path: string) => {
    if (!mention) return;
    const next = completed(text, mention, cursor, path);
    onChange(next.text);
    setCursor(next.cursor);
    requestAnimationFrame(() => {
      field.current?.focus();
      field.current?.setSelectionRange(next.cursor, next.cursor);
    });
  };
  /** Returns whether the key was for the list. */
  const press = (event: KeyboardEvent): boolean => {
    if (!found.length) return false;
    const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in moves) setChosen((chosen + moves[event.key]! + found.length) % found.length);
    else if ((event.key === "Enter" && !event.shiftKey) || event.key === "Tab") choose(found[chosen]!.value);
    else if (event.key === "Escape") setDismissed(mention!.start);
    else return false;
    event.preventDefault();
    return true;
  };
  const moved = () => {
    setCursor(field.current?.selectionStart ?? 0);
    if (!mentionAt(text, field.current?.selectionStart ?? 0)) setDismissed(-1);
  };
  return { found, chosen, choose, press, moved };
}
