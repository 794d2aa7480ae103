// The events that the server sends, as far as the page uses them. Unknown types and fields are ignored.

export type Status = "idle" | "running" | "completed" | "error";

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
  parked?: boolean;
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

export interface ServerEvent {
  type: string;
  payload: Record<string, any>;
}
