// What lists show of sessions. It does not change while sessions write, so that a list of a thousand costs nothing then.

import { create } from "zustand";
import type { AskRequest, SessionRow } from "../contract/server_events";
import { byUpdate, openAsks, type Session, type State } from "../state/state";
import { useStore } from "../store";
import { sessionState } from "./session_state";

interface ShownSession {
  row: SessionRow;
  asks: AskRequest[];
  waiting: number;
  dot: string;
  label: string;
}

interface Shown {
  byId: Record<string, ShownSession>;
  /** The session with the latest change first. */
  rows: SessionRow[];
  asks: AskRequest[];
  /** How many asks wait, also of sessions whose asks are not known. */
  waiting: number;
}

const useShown = create<Shown>(() => ({ byId: {}, rows: [], asks: [], waiting: 0 }));

/** The sessions, each with the same object as before if lists show nothing new of it; null if that is so for all. */
export function shownAfter(before: Shown, state: Pick<State, "sessions">): Shown | null {
  let count = 0;
  let isSame = true;
  for (const id in state.sessions) {
    count++;
    if (!isSameSession(before.byId[id], state.sessions[id]!)) isSame = false;
  }
  if (isSame && count === before.rows.length) return null;
  const sessions = byUpdate(state);
  const byId: Record<string, ShownSession> = {};
  for (const each of sessions) {
    const known = before.byId[each.row.id];
    byId[each.row.id] = isSameSession(known, each) ? known! : { row: each.row, asks: each.asks, waiting: openAsks(each), ...sessionState(each) };
  }
  return {
    byId,
    rows: sessions.map((each) => each.row),
    asks: sessions.flatMap((each) => each.asks),
    waiting: sessions.reduce((sum, each) => sum + openAsks(each), 0),
  };
}

function isSameSession(shown: ShownSession | undefined, session: Session): boolean {
  return shown !== undefined && shown.row === session.row && shown.asks === session.asks && shown.waiting === openAsks(session);
}

useStore.subscribe((state, before) => {
  const next = state.sessions === before.sessions ? null : shownAfter(useShown.getState(), state);
  if (next) useShown.setState(next);
});

export function useShownSession(id: string | null): ShownSession | null {
  return useShown((shown) => (id === null ? null : (shown.byId[id] ?? null)));
}

/** The rows of all sessions, the one with the latest change first. */
export function useRows(): SessionRow[] {
  return useShown((shown) => shown.rows);
}

/** Every open ask of every session. */
export function useAsks(): AskRequest[] {
  return useShown((shown) => shown.asks);
}

export function useWaiting(): number {
  return useShown((shown) => shown.waiting);
}

/** Tell of the asks whenever lists show something new. */
export function onAsks(tell: (asks: AskRequest[]) => void): () => void {
  return useShown.subscribe((shown) => tell(shown.asks));
}
