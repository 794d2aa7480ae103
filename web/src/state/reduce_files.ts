// What the server says of the files of a session and of what its turns changed.

import type { FileText, ServerEvent, SlashCommand, Turn } from "../contract/server_events";
import type { Session } from "./state";

/** The session after an answer about files, or null if the event is something else. */
export function reduceFiles(session: Session, type: string, payload: ServerEvent["payload"]): Session | null {
  switch (type) {
    case "files.list":
      return { ...session, files: { paths: array<string>(payload.paths), whole: payload.whole !== false, isStale: false } };
    case "commands.list":
      return { ...session, commands: array<SlashCommand>(payload.commands) };
    case "files.read":
      return { ...session, file: payload as unknown as FileText };
    case "turns.list": {
      const latest = array<Turn>(payload.turns);
      return { ...session, turns: { latest, limit: Number(payload.limit ?? latest.length), isStale: false } };
    }
    case "turn.diff":
      return { ...session, diffs: { ...session.diffs, [String(payload.turnId)]: String(payload.diff ?? "") } };
    default:
      return null;
  }
}

/** A turn may have changed files, and there is another last turn. */
export function withStaleFiles(session: Session): Session {
  return {
    ...session,
    files: session.files && { ...session.files, isStale: true },
    turns: session.turns && { ...session.turns, isStale: true },
  };
}

function array<T>(value: unknown): T[] {
  return Array.isArray(value) ? (value as T[]) : [];
}
