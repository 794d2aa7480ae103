import { type KeyboardEvent, type RefObject, useEffect, useMemo, useState } from "react";
import { useStore } from "../store";
import { useCommands, useFiles } from "../panel/use_files";
import { matching } from "../panel/file_tree";
import type { SessionRow, SlashCommand } from "../contract/server_events";
import { inLanguage } from "../language/t";
import { completed, mentionAt } from "./mention";
import type { Suggestion } from "./Suggestions";

const MOST = 12;

/** Files for the `@` at the cursor, or commands for the `/` at the beginning. `press` takes the keys that move in the list and choose from it. */
export function useSuggestions(row: SessionRow, text: string, field: RefObject<HTMLTextAreaElement | null>, onChange: (text: string) => void) {
  const [cursor, setCursor] = useState(0);
  const [chosen, setChosen] = useState(0);
  const [dismissed, setDismissed] = useState(-1); // where the list was closed
  const files = useStore((state) => state.sessions[row.id]?.files ?? null);
  const mention = mentionAt(text, cursor);
  const isOpen = mention !== null && mention.start !== dismissed;
  const kind = isOpen ? mention.kind : null;
  const commands = useStore((state) => state.sessions[row.id]?.commands ?? null);
  useFiles({ row, files }, kind === "file");
  useCommands({ row, commands }, kind === "command");
  const typed = isOpen ? mention.typed : null;
  const found = useMemo((): Suggestion[] => {
    if (kind === "file") return foundFiles(files?.paths ?? [], typed!);
    return kind === "command" ? foundCommands(commands ?? [], typed!) : [];
  }, [kind, files, commands, typed]);
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
    else if (event.key === "Enter" && kind === "command" && found[chosen]!.value === typed) return false; // typed in full
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

function foundFiles(paths: readonly string[], typed: string): Suggestion[] {
  return matching(paths, typed, MOST).map((path) => ({ value: path, label: path, kind: path.endsWith("/") ? "folder" : "file" }));
}

function foundCommands(commands: readonly SlashCommand[], typed: string): Suggestion[] {
  return commands
    .filter(({ name }) => name.startsWith(typed))
    .map(({ name, hint, text, retold }) => ({ value: name, label: `/${name} ${hint}`.trim(), detail: inLanguage(text, retold), kind: "command" }));
}
