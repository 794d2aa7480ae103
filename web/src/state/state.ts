// Everything that the page knows, as plain data.

import type { Attachment, IdeContext } from "../contract/client_events";
import type { AskRequest, FileText, Retold, Sample, SessionRow, SlashCommand, Turn } from "../contract/server_events";
import type { Item } from "./items";

export interface QueuedPrompt {
  id: string;
  text: string;
  steer: boolean;
}

/** The blocks of a message while it is written. Thinking that is finished stays until the whole message comes. */
export interface Writing {
  thinking?: string;
  isThinking: boolean;
  text?: string;
}

export interface Session {
  row: SessionRow;
  hydration: "none" | "asked" | "done";
  /** After a reconnect: what comes is ignored until `session.following`. */
  catchUp: "no" | "wanted" | "asked";
  /** Events up to `seq` are known, and `part` of those with the next number. */
  cursor: { seq: number; part: number };
  items: Item[];
  writing: Writing | null;
  asks: AskRequest[];
  queue: QueuedPrompt[];
  /** What it does just now, in the words of the server. */
  note: { text: string; retold?: Retold } | null;
  /** What the folder of the session has; it may have changed since if it is stale. */
  files: { paths: string[]; whole: boolean; isStale: boolean } | null;
  file: FileText | null;
  commands: SlashCommand[] | null;
  turns: { latest: Turn[]; limit: number; isStale: boolean } | null;
  diffs: Record<string, string>;
}

/** What stands beside the conversation. */
export type Panel = "files" | "changes" | "usage";

export interface Notice {
  id: number;
  /** `deleted`: the text is the title of a session that somebody else has deleted. */
  kind?: "deleted";
  text: string;
  sessionId?: string;
}

/** What stands in a composer. */
export interface Written {
  text: string;
  images: Attachment[];
}

/** A prompt on its way: until the server has it, it is not lost. */
export interface SentPrompt extends Written {
  requestId: string;
  sessionId: string;
}

/** What a child session has done for a task. */
export interface Task {
  status: string;
  items: Item[];
}

export interface State {
  /** Of the page: sentences of the server come in several. */
  language: string;
  connection: "connecting" | "open" | "lost" | "refused";
  /** Nothing else is asked for until the list of sessions is `current`. */
  list: "wanted" | "asked" | "current";
  hasList: boolean;
  sessions: Record<string, Session>;
  selected: string | null;
  /** The `session.start` that is under way, by its request id. */
  starting: string | null;
  /** Why the last start failed, for the dialog that it was made in. */
  startProblem: string;
  isNewSessionOpen: boolean;
  /** Asks that this page has answered; if it is `unsure` whether the answer arrived, they can be answered again. */
  answered: Record<string, "sent" | "unsure">;
  /** Sessions that this page has deleted. */
  deleting: Record<string, true>;
  sent: SentPrompt[];
  /** What did not reach the server, by session, for the composer to show again. */
  returned: Record<string, Written>;
  notices: Notice[];
  nextNotice: number;
  panel: Panel | null;
  /** What a person looks at in an editor that is connected. */
  ide: IdeContext | null;
  samples: Sample[];
  /** Those that were looked at, by session and tool use (`taskKey`). */
  tasks: Record<string, Task>;
}

export function taskKey(sessionId: string, toolUseId: string): string {
  return `${sessionId}/${toolUseId}`;
}

export const INITIAL: State = {
  language: "en",
  connection: "connecting",
  list: "wanted",
  hasList: false,
  sessions: {},
  selected: null,
  starting: null,
  startProblem: "",
  isNewSessionOpen: false,
  answered: {},
  deleting: {},
  sent: [],
  returned: {},
  notices: [],
  nextNotice: 1,
  panel: null,
  ide: null,
  samples: [],
  tasks: {},
};

export function newSession(row: SessionRow): Session {
  return {
    row,
    hydration: "none",
    catchUp: "no",
    cursor: { seq: 0, part: 0 },
    items: [],
    writing: null,
    asks: [],
    queue: [],
    note: null,
    files: null,
    file: null,
    commands: null,
    turns: null,
    diffs: {},
  };
}

export function openAsks(session: Session): number {
  return session.hydration === "done" ? session.asks.length : Math.max(session.asks.length, session.row.openAsks ?? 0);
}

/** Sessions as the sidebar lists them: the one with the latest change first. */
export function byUpdate(state: Pick<State, "sessions">): Session[] {
  return Object.values(state.sessions).sort(
    (a, b) => b.row.updatedAt - a.row.updatedAt || (a.row.id < b.row.id ? -1 : 1),
  );
}
