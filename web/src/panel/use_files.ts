// Asks for the files and the turns of a session when they are shown and not known.

import { useEffect } from "react";
import { send } from "../connection/socket";
import type { Session } from "../state/state";
import { useStore } from "../store";

export function useFiles({ row, files }: Pick<Session, "row" | "files">, isWanted: boolean): void {
  const isOpen = useStore((state) => state.connection === "open");
  const isCurrent = files !== null && !files.isStale;
  useEffect(() => {
    if (isOpen && isWanted && !isCurrent) send({ type: "files.list", payload: { sessionId: row.id } });
  }, [isOpen, isWanted, isCurrent, row.id]);
}

export function useCommands({ row, commands }: Pick<Session, "row" | "commands">, isWanted: boolean): void {
  const isOpen = useStore((state) => state.connection === "open");
  const isKnown = commands !== null;
  useEffect(() => {
    if (isOpen && isWanted && !isKnown) send({ type: "commands.list", payload: { sessionId: row.id } });
  }, [isOpen, isWanted, isKnown, row.id]);
}

/** The latest turns, as soon as nothing runs. */
export function useTurns(session: Session, limit: number): void {
  const isOpen = useStore((state) => state.connection === "open");
  const { row, turns, hydration } = session;
  const isCurrent = turns !== null && !turns.isStale && turns.limit >= limit;
  const isWanted = isOpen && hydration === "done" && row.status !== "running" && !isCurrent;
  useEffect(() => {
    if (isWanted) send({ type: "turns.list", payload: { sessionId: row.id, limit } });
  }, [isWanted, row.id, limit]);
}
