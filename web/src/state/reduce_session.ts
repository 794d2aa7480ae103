// One session: each event of the server changes what is shown of it.

import type { AskRequest, Resolution, ServerEvent, SessionRow, Status } from "../contract/server_events";
import { type Decided, ItemList, type Message } from "./items";
import { reduceFiles, withStaleFiles } from "./reduce_files";
import type { QueuedPrompt, Session, Writing } from "./state";

type Payload = ServerEvent["payload"];
const SETTINGS = ["title", "model", "mode", "think", "agent", "cwd"] as const;
const MOST_OUTPUT = 20_000;

export function reduceSession(
  session: Session,
  event: ServerEvent,
  at: number,
  answered: Readonly<Record<string, unknown>>,
): Session {
  const { type, payload } = event;
  if (type === "session.history") return hydrated(session, payload, answered);
  const looked = reduceFiles(session, type, payload);
  if (looked) return looked;
  if (type === "session.following") return { ...session, catchUp: "no" };
  if (session.catchUp !== "no") {
    // Everything comes again after `session.following`, except requests that this connection was sent already.
    const isAsk = type === "permission.request" || type === "permission.resolved";
    return isAsk ? apply(session, type, payload, at, answered) : session;
  }
  const next = advanced(session, payload);
  if (next === null) return session; // known already
  return apply(next, type, payload, at, answered);
}

/** Move the cursor past an event, or null if the page has it. Events without a number always count. */
function advanced(session: Session, payload: Payload): Session | null {
  const seq: unknown = payload.seq;
  if (typeof seq !== "number" || session.hydration !== "done") return session;
  const part = typeof payload.part === "number" ? payload.part : 0;
  const parts = typeof payload.parts === "number" ? payload.parts : 1;
  const { cursor } = session;
  if (seq <= cursor.seq || (seq === cursor.seq + 1 && part < cursor.part)) return null;
  const isLast = part >= parts - 1;
  return { ...session, cursor: isLast ? { seq, part: 0 } : { seq: seq - 1, part: part + 1 } };
}

function apply(
  session: Session,
  type: string,
  payload: Payload,
  at: number,
  answered: Readonly<Record<string, unknown>>,
): Session {
  const isShown = session.hydration === "done"; // of another session, the history will tell
  switch (type) {
    case "session.status":
      return status(session, payload, at);
    case "session.settings":
      return { ...session, row: settings(session.row, payload) };
    case "permission.request":
      return requested(session, payload as unknown as AskRequest);
    case "permission.resolved":
      return resolved(session, payload, answered);
    case "stream.user_prompt":
      return prompted(session, payload, at, isShown);
    case "stream.message":
      return isShown ? message(session, payload.message) : session;
    case "prompt.queued":
      return queued(session, payload);
    case "prompt.edited":
      return {
        ...session,
        queue: session.queue.map((each) => (each.id === payload.promptId ? { ...each, text: payload.prompt } : each)),
      };
    case "prompt.recalled":
      return { ...session, queue: session.queue.filter((each) => each.id !== payload.promptId) };
    case "session.waiting":
      return { ...session, row: { ...session.row, waiting: payload.reason ?? undefined, retold: payload.retold } };
    case "notice":
      return { ...session, note: { text: String(payload.text ?? ""), retold: payload.retold } };
    default:
      return isShown ? shown(session, type, payload) : session;
  }
}

/** Events that only add something to a conversation. Unknown types change nothing. */
function shown(session: Session, type: string, payload: Payload): Session {
  switch (type) {
    case "tool.output":
      return change(session, (list) =>
        list.tool(payload.toolUseId, (tool) => ({
          ...tool,
          output: `${tool.output ?? ""}${payload.text ?? ""}`.slice(-MOST_OUTPUT),
        })),
      );
    case "session.child":
      return change(session, (list) =>
        list.tool(payload.toolUseId, (tool) => ({ ...tool, child: payload.childSessionId })),
      );
    case "command.output":
      return change(session, (list) => list.line("command", String(payload.text ?? ""), payload.diff));
    case "turn.undone":
      return change(withStaleFiles(session), (list) => list.undone(payload));
    case "background.ended":
      return change(session, (list) => list.line("background", String(payload.backgroundId ?? "")));
    default:
      return session;
  }
}

function hydrated(session: Session, payload: Payload, answered: Readonly<Record<string, unknown>>): Session {
  if (!Array.isArray(payload.messages)) return session;
  const decided = Array.isArray(payload.decisions) ? (payload.decisions as Decided[]) : [];
  const list = new ItemList(
    ItemList.from(
      payload.messages as Message[],
      decided.map((each) => ({ ...each, mine: (each.askId ?? "") in answered })),
    ),
  );
  list.retell(payload.session?.error, payload.session?.errorRetold);
  return {
    ...session,
    row: { ...session.row, ...(payload.session ?? {}), status: payload.status ?? session.row.status },
    hydration: "done",
    catchUp: "no",
    cursor: { seq: typeof payload.seq === "number" ? payload.seq : 0, part: 0 },
    items: list.items,
    queue: Array.isArray(payload.queue) ? (payload.queue as Payload[]).map(prompt) : session.queue,
    turns: session.turns && { ...session.turns, isStale: true },
    writing: (payload.messages as Message[]).reduce<Writing | null>(written, null),
  };
}

/** What is being written after a message. With `persist_partials = always`, a history has the pieces too. */
function written(writing: Writing | null, message: Message): Writing | null {
  if (message?.type === "stream_event") return write(writing, message.event);
  return message?.type === "assistant" || message?.type === "result" ? null : writing;
}

function status(session: Session, payload: Payload, at: number): Session {
  const { error: _, ...old } = session.row;
  const row: SessionRow = settings({ ...old, status: payload.status as Status, updatedAt: at }, payload);
  delete row.errorRetold;
  if (typeof payload.error === "string") Object.assign(row, { error: payload.error, errorRetold: payload.retold });
  const isOver = payload.status !== "running";
  delete row.waiting;
  const next = { ...session, row, writing: null, note: null };
  if (!isOver) return next;
  const over = withStaleFiles({ ...next, items: unfinished(session) });
  return payload.retold ? change(over, (list) => list.retell(payload.error, payload.retold)) : over;
}

/** A turn that is over leaves no call pending: what had no result was stopped. */
function unfinished(session: Session) {
  const isPending = session.items.some((each) => each.kind === "tool" && each.status === "pending" && each.output);
  if (!isPending) return session.items;
  return session.items.map((each) => (each.kind === "tool" && each.output ? { ...each, output: undefined } : each));
}

function settings(row: SessionRow, payload: Payload): SessionRow {
  const changed = SETTINGS.filter((name) => typeof payload[name] === "string").map((name) => [name, payload[name]]);
  return { ...row, ...Object.fromEntries(changed) };
}

function requested(session: Session, ask: AskRequest): Session {
  const others = session.asks.filter((each) => each.askId !== ask.askId);
  return { ...session, asks: [...others, ask] };
}

function resolved(session: Session, payload: Payload, answered: Readonly<Record<string, unknown>>): Session {
  const ask = session.asks.find((each) => each.askId === payload.askId);
  const asks = session.asks.filter((each) => each !== ask);
  const resolution = { ...(payload as Resolution), mine: payload.askId in answered && !payload.late };
  const next = asks.length === session.asks.length ? session : { ...session, asks };
  if (session.hydration !== "done") return next;
  return change(next, (list) => {
    const isFound = list.tool(payload.toolUseId, (tool) => ({ ...tool, resolution }));
    if (!isFound && ask) list.line("resolved", ask.task ?? ask.title ?? ask.toolName, JSON.stringify(resolution));
  });
}

function prompted(session: Session, payload: Payload, at: number, isShown: boolean): Session {
  const queue = session.queue.filter((each) => each.id !== payload.promptId);
  const row = { ...session.row, updatedAt: at };
  const { by, via, steer, images, promptId } = payload;
  const said = { text: String(payload.prompt ?? ""), by, via, steer, images, promptId };
  const next = { ...session, queue, row };
  return isShown ? change(next, (list) => list.prompt(said)) : next;
}

function queued(session: Session, payload: Payload): Session {
  const added = prompt(payload);
  return { ...session, queue: [...session.queue.filter((each) => each.id !== added.id), added] };
}

function prompt(payload: Payload): QueuedPrompt {
  return { id: String(payload.promptId), text: String(payload.prompt ?? ""), steer: !!payload.steer };
}

function message(session: Session, said: Message): Session {
  if (said?.type === "stream_event") return { ...session, writing: write(session.writing, said.event) };
  const isWhole = said?.type === "assistant" || said?.type === "result";
  const next = isWhole ? { ...session, writing: null, note: null } : session;
  return change(next, (list) => list.add(said));
}

function write(writing: Writing | null, event: Message): Writing | null {
  const now = writing ?? { isThinking: false };
  switch (event?.type) {
    case "content_block_start":
      return event.content_block?.type === "thinking"
        ? { ...now, isThinking: true, thinking: "" }
        : event.content_block?.type === "text"
          ? { ...now, isThinking: false, text: "" }
          : now;
    case "content_block_delta":
      if (event.delta?.type === "text_delta") return { ...now, text: (now.text ?? "") + event.delta.text };
      if (event.delta?.type === "thinking_delta") return { ...now, thinking: (now.thinking ?? "") + event.delta.thinking };
      return now;
    case "content_block_stop":
      return { isThinking: false, ...(now.thinking ? { thinking: now.thinking } : {}) };
    default:
      return writing;
  }
}

function change(session: Session, edit: (list: ItemList) => unknown): Session {
  const list = new ItemList([...session.items]);
  edit(list);
  return { ...session, items: list.items };
}
