// The one function from events to what is shown. It is pure: times come with the action.

import type { IdeContext } from "../contract/client_events";
import type { AskRequest, Sample, ServerEvent, SessionRow } from "../contract/server_events";
import { ItemList } from "./items";
import { reduceSession } from "./reduce_session";
import { byUpdate, newSession, type Notice, type Panel, type SentPrompt, type Session, type State, type Task, taskKey } from "./state";

const MOST_SAMPLES = 120;
const MOST_KEPT = 20;

export type Action =
  | { kind: "received"; events: ServerEvent[]; at: number }
  | { kind: "opened" }
  | { kind: "lost" }
  | { kind: "refused" }
  | { kind: "requested"; histories: string[]; follows: string[] }
  | { kind: "selected"; id: string | null }
  | { kind: "new-session"; open: boolean }
  | { kind: "starting"; requestId: string }
  | { kind: "answered"; askId: string }
  | ({ kind: "sent" } & SentPrompt)
  | { kind: "taken-back"; sessionId: string }
  | { kind: "told"; text: string; sessionId?: string }
  | { kind: "dismissed"; id: number }
  | { kind: "panel"; panel: Panel | null }
  | { kind: "file-closed"; sessionId: string }
  | { kind: "history-wanted"; sessionId: string }
  | { kind: "deleting"; sessionId: string };

export function reduce(state: State, action: Action): State {
  switch (action.kind) {
    case "received":
      return receiveAll(state, action.events, action.at);
    case "opened":
      return { ...state, connection: "open", list: "wanted", sessions: mapSessions(state, reconnected) };
    case "lost":
      return { ...giveBack(state, () => true), connection: "lost", starting: null, answered: unsure(state, () => true) };
    case "refused":
      return { ...state, connection: "refused", starting: null };
    case "requested":
      return {
        ...state,
        list: state.list === "wanted" ? "asked" : state.list,
        sessions: marked(state, action.histories, action.follows),
      };
    case "selected":
      return { ...state, selected: action.id, sessions: relieved(state, action.id) };
    case "new-session":
      return { ...state, isNewSessionOpen: action.open, startProblem: "" };
    case "starting":
      return { ...state, starting: action.requestId, startProblem: "" };
    case "answered":
      return { ...state, answered: { ...state.answered, [action.askId]: "sent" } };
    case "sent": {
      const { kind: _, ...prompt } = action;
      return { ...state, sent: [...state.sent, prompt] };
    }
    case "taken-back": {
      const { [action.sessionId]: _, ...returned } = state.returned;
      return { ...state, returned };
    }
    case "told":
      return tell(state, action.text, action.sessionId);
    case "dismissed":
      return { ...state, notices: state.notices.filter((each) => each.id !== action.id) };
    case "panel":
      return { ...state, panel: action.panel, samples: [] };
    case "file-closed":
      return changed(state, action.sessionId, (session) => ({ ...session, file: null }));
    case "deleting":
      return { ...state, deleting: { ...state.deleting, [action.sessionId]: true } };
    case "history-wanted":
      return changed(state, action.sessionId, (session) => ({ ...session, hydration: "none" }));
  }
}

/** What the page still has to ask the server for. A history is asked for once. */
export function wanted(state: State): { list: boolean; histories: string[]; follows: Session[] } {
  if (state.connection !== "open") return { list: false, histories: [], follows: [] };
  const all = state.list === "current" ? Object.values(state.sessions) : [];
  const isNeeded = ({ row }: Session) => row.id === state.selected || row.status === "running" || !!row.openAsks;
  return {
    list: state.list === "wanted",
    histories: all.filter((each) => each.hydration === "none" && isNeeded(each)).map((each) => each.row.id),
    follows: all.filter((each) => each.hydration === "done" && each.catchUp === "wanted"),
  };
}

/** Many pieces of a text come at once. Those of one session are taken together: there may be a thousand others. */
function receiveAll(before: State, events: ServerEvent[], at: number): State {
  let state = before;
  for (let index = 0; index < events.length; ) {
    const id = streamedIn(events[index]);
    const known = id === null ? undefined : state.sessions[id];
    if (id === null || !known) {
      state = receive(state, events[index++]!, at);
      continue;
    }
    let session = known;
    while (streamedIn(events[index]) === id) session = reduceSession(session, events[index++]!, at, state.answered);
    if (session !== known) state = { ...state, sessions: { ...state.sessions, [id]: session } };
  }
  return state;
}

/** The session that a piece of a message or of an output belongs to; null for all other events. */
function streamedIn(event: ServerEvent | undefined): string | null {
  const isPiece = event?.type === "stream.message" || event?.type === "tool.output";
  return isPiece && typeof event.payload?.sessionId === "string" ? event.payload.sessionId : null;
}

function receive(state: State, event: ServerEvent, at: number): State {
  const payload = event?.payload ?? {};
  switch (event?.type) {
    case "session.list":
      return listed(state, payload as { sessions?: SessionRow[]; whole?: boolean });
    case "statistics":
      return { ...state, samples: [...state.samples, payload as Sample].slice(-MOST_SAMPLES) };
    case "ide.context":
      return { ...state, ide: payload.activeFile || payload.selection ? (payload as IdeContext) : null };
    case "task.history":
      return { ...state, tasks: { ...state.tasks, [taskKey(payload.sessionId, payload.toolUseId)]: task(payload) } };
    case "session.accepted":
      return accepted(state, payload, at);
    case "session.deleted":
      return deleted(state, payload.sessionId);
    case "runner.error":
      return failed(state, payload);
    default:
      return typeof payload.sessionId === "string" ? inSession(state, payload.sessionId, event, at) : state;
  }
}

function task({ status, messages }: ServerEvent["payload"]): Task {
  return { status: String(status ?? ""), items: ItemList.from(Array.isArray(messages) ? messages : []) };
}

function listed(state: State, { sessions: rows, whole }: { sessions?: SessionRow[]; whole?: boolean }): State {
  if (!Array.isArray(rows)) return state;
  const sessions: Record<string, Session> = whole === false ? { ...state.sessions } : {};
  for (const row of rows) {
    const known = state.sessions[row.id];
    const isOlder = known && known.hydration === "done" && known.cursor.seq > (row.seq ?? 0);
    const status = isOlder ? { status: known.row.status, title: known.row.title } : {};
    sessions[row.id] = known ? { ...known, row: { ...row, ...status } } : newSession(row);
  }
  const next: State = { ...state, list: "current", hasList: true, sessions };
  if (next.selected && sessions[next.selected]) return next;
  const newest = byUpdate(next)[0];
  const other = {
    ...next,
    selected: newest?.row.id ?? null,
    isNewSessionOpen: next.isNewSessionOpen || (!newest && !state.hasList),
  };
  const gone = whole !== false && next.selected ? state.sessions[next.selected] : undefined;
  return gone && !(gone.row.id in state.deleting) ? tell(other, gone.row.title, undefined, "deleted") : other;
}

function accepted(state: State, payload: ServerEvent["payload"], at: number): State {
  if (payload.requestId !== state.starting || typeof payload.sessionId !== "string")
    return { ...state, sent: state.sent.filter((each) => each.requestId !== payload.requestId) };
  const id = payload.sessionId;
  const session = state.sessions[id] ?? newSession(stub(id, at));
  return {
    ...state,
    sessions: { ...state.sessions, [id]: session },
    list: "wanted",
    selected: id,
    starting: null,
    isNewSessionOpen: false,
  };
}

function deleted(state: State, id: unknown): State {
  if (typeof id !== "string" || !state.sessions[id]) return state;
  const { [id]: _, ...sessions } = state.sessions;
  if (state.selected !== id) return { ...state, sessions };
  const next = { ...state, sessions, selected: byUpdate({ ...state, sessions })[0]?.row.id ?? null };
  return id in state.deleting ? next : tell(next, state.sessions[id].row.title, undefined, "deleted");
}

function failed(state: State, { message: english, retold, sessionId, requestId }: ServerEvent["payload"]): State {
  const id = typeof sessionId === "string" ? sessionId : undefined;
  const message = String(retold?.[state.language] ?? english ?? "");
  const session = id ? state.sessions[id] : undefined;
  if (id && session && session.catchUp === "asked") {
    // The log is not the one that the page knows: begin again with its history.
    return { ...state, sessions: { ...state.sessions, [id]: { ...session, hydration: "none", catchUp: "no" } } };
  }
  if (state.starting && requestId === state.starting) return { ...state, starting: null, startProblem: message };
  const open = new Set(session?.asks.map((each) => each.askId));
  const back = giveBack(state, (each) => each.requestId === requestId);
  return tell({ ...back, answered: unsure(state, (askId) => open.has(askId)) }, message, id);
}

/** Prompts that the server did not take go back to where they were typed. */
function giveBack(state: State, isMeant: (sent: SentPrompt) => boolean): State {
  const back = state.sent.filter(isMeant);
  if (!back.length) return state;
  const returned = { ...state.returned };
  for (const { sessionId, text, images } of back) {
    const before = returned[sessionId];
    returned[sessionId] = {
      text: [before?.text, text].filter(Boolean).join("\n\n"),
      images: [...(before?.images ?? []), ...images],
    };
  }
  return { ...state, returned, sent: state.sent.filter((each) => !back.includes(each)) };
}

/** Answers that may not have arrived can be given again. */
function unsure(state: State, isMeant: (askId: string) => boolean): State["answered"] {
  const changed = Object.keys(state.answered).filter((each) => state.answered[each] === "sent" && isMeant(each));
  return changed.length ? { ...state.answered, ...Object.fromEntries(changed.map((each) => [each, "unsure" as const])) } : state.answered;
}

function inSession(state: State, id: string, event: ServerEvent, at: number): State {
  const known = state.sessions[id];
  const before = known ?? newSession(stub(id, at));
  const after = reduceSession(before, event, at, state.answered);
  if (after === before) return state;
  const sent = event.type === "command.output" ? state.sent.filter((each) => each.sessionId !== id) : state.sent;
  const next = { ...state, sent, sessions: { ...state.sessions, [id]: after } };
  return known ? next : { ...next, list: "wanted" };
}

/** The page keeps the conversations of some sessions; the others are asked for again when they are shown. */
function relieved(state: State, selected: string | null): Record<string, Session> {
  const atRest = byUpdate(state).filter(
    ({ row, hydration, catchUp, asks }) => hydration === "done" && catchUp === "no" && row.status !== "running" && !asks.length && row.id !== selected,
  );
  if (atRest.length <= MOST_KEPT) return state.sessions;
  const forgotten = atRest.slice(MOST_KEPT).map(({ row }) => [row.id, newSession(row)] as const);
  return { ...state.sessions, ...Object.fromEntries(forgotten) };
}

function changed(state: State, id: string, change: (session: Session) => Session): State {
  const session = state.sessions[id];
  return session ? { ...state, sessions: { ...state.sessions, [id]: change(session) } } : state;
}

function stub(id: string, at: number): SessionRow {
  return { id, title: "", status: "idle", createdAt: at, updatedAt: at };
}

function tell(state: State, text: string, sessionId?: string, kind?: Notice["kind"]): State {
  const notice = { id: state.nextNotice, kind, text, sessionId };
  const others = state.notices.filter((each) => each.text !== text);
  return { ...state, notices: [...others, notice].slice(-4), nextNotice: state.nextNotice + 1 };
}

/** On a new connection the server tells open asks again, except those of the log that is replayed. */
function reconnected(session: Session): Session {
  if (session.hydration !== "done") return { ...session, hydration: "none", catchUp: "no", asks: [] };
  const own = session.asks.filter((each: AskRequest) => !each.childSessionId);
  return { ...session, catchUp: "wanted", asks: own, writing: null, note: null };
}

function marked(state: State, histories: string[], follows: string[]): Record<string, Session> {
  const sessions = { ...state.sessions };
  for (const id of histories) if (sessions[id]) sessions[id] = { ...sessions[id], hydration: "asked" };
  for (const id of follows) if (sessions[id]) sessions[id] = { ...sessions[id], catchUp: "asked" };
  return sessions;
}

function mapSessions(state: State, change: (session: Session) => Session): Record<string, Session> {
  return Object.fromEntries(Object.entries(state.sessions).map(([id, session]) => [id, change(session)]));
}
