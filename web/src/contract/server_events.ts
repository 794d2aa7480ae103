// The events that the server sends, as far as the page uses them. Unknown types and fields are ignored.

export type Status = "idle" | "running" | "completed" | "error";

/** A sentence of the server in other languages. */
export type Retold = Record<string, string>;

export interface SessionRow {
  id: string;
  title: string;
  status: Status;
  cwd?: string;
  createdAt: number;
  updatedAt: number;
  seq?: number;
  agent?: string;
  model?: string;
  mode?: string;
  think?: string;
  openAsks?: number;
  queued?: number;
  resume?: { coder: string; agent?: string; problem?: string };
  costUsd?: number | null;
  contextTokens?: number;
  error?: string;
  errorRetold?: Retold;
  parked?: boolean;
  folders?: string[];
  /** Why nobody works on a session that has something to do. */
  waiting?: string;
  retold?: Retold;
  inputWhileRunning?: "queue" | "steer" | "stop" | "ignore";
}

export interface Question {
  question: string;
  header?: string;
  options: { label: string; description?: string }[];
  multiSelect?: boolean;
}

export interface AskRequest {
  sessionId: string;
  toolUseId: string;
  toolName: string;
  input: Record<string, unknown>;
  askId: string;
  kind?: "permission" | "question" | "plan" | "budget";
  title?: string;
  reason?: string;
  retold?: Retold;
  permissionType?: "read" | "write" | "command" | "all";
  diff?: string;
  paths?: string[];
  url?: string;
  commandInfo?: { command: string; cwd: string; background?: boolean; rights?: string[]; sandbox?: unknown };
  commandSignature?: { words?: string[]; prefix?: unknown; text?: string };
  offersMode?: "auto-edit";
  childSessionId?: string;
  task?: string;
  deadline?: number;
}

/** What was decided on an ask, and by whom. */
export interface Resolution {
  behavior: string;
  by?: string;
  via?: string;
  scope?: string;
  message?: string;
  option?: string;
  answers?: Record<string, string>;
}

export interface FileChange {
  path: string;
  kind: "added" | "modified" | "deleted" | "renamed";
  added: number;
  deleted: number;
  was?: string;
  binary?: boolean;
  /** False if its earlier content was not kept. */
  covered?: boolean;
}

/** A turn that can be undone after all later ones. */
export interface Turn {
  turnId: string;
  prompt: string;
  at: number;
  changes: FileChange[];
  problem?: string;
  retold?: Retold;
}

/** A slash command that may be used here. */
export interface SlashCommand {
  name: string;
  hint: string;
  text: string;
  retold?: Retold;
}

export interface FileText {
  path: string;
  text: string;
  size: number;
  binary: boolean;
  whole: boolean;
}

/** The shares of the machine that are in use, from 0 to 1. */
export interface Sample {
  cpu: number;
  memory: number;
  disk: number;
}

export interface ServerEvent {
  type: string;
  payload: Record<string, any>;
}
