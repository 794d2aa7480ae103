import { useShallow } from "zustand/react/shallow";
import type { SessionRow } from "../contract/server_events";
import { byUpdate } from "../state/state";
import { useStore } from "../store";
import { sessionState } from "./session_state";

/** What lists show of a session. It does not change while the session writes. */
export function useShownSession(id: string | null): { row: SessionRow; dot: string; label: string } | null {
  return useStore(
    useShallow((state) => {
      const session = id === null ? undefined : state.sessions[id];
      return session ? { row: session.row, ...sessionState(session) } : null;
    }),
  );
}

/** The rows of all sessions, the one with the latest change first. */
export function useRows(): SessionRow[] {
  return useStore(useShallow((state) => byUpdate(state).map((each) => each.row)));
}
