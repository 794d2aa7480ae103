// Written by `python -m tools.web_types` from the types of the server. Do not edit.

export const MODES = [
  { name: "plan", outsideName: "plan", label: { en: "Plan", zh: "规划" }, detail: { en: "Explore and propose a plan, change nothing", zh: "分析并给出方案，不作改动" } },
  { name: "default", outsideName: "default", label: { en: "Ask first", zh: "先询问" }, detail: { en: "Ask before changes and commands", zh: "改动和运行命令前询问" } },
  { name: "auto-edit", outsideName: "acceptEdits", label: { en: "Edit freely", zh: "自由编辑" }, detail: { en: "Edit files and run tests without asking", zh: "编辑文件和运行测试无需询问" } },
  { name: "yolo", outsideName: "bypassPermissions", label: { en: "Never ask", zh: "从不询问" }, detail: { en: "Run every command without asking", zh: "所有命令直接运行" } },
] as const;

export interface ActiveFile {
  path: string;
  name?: string;
}

export interface AgentsRecheck {
  type: "agents.recheck";
  payload?: FolderPayload;
}

export interface AllowResult {
  behavior: "allow";
  updatedInput?: Record<string, unknown> | null;
  scope?: "once" | "person" | "project" | "session";
  mode?: "auto-edit" | null;
}

export interface Attachment {
  mimeType: string;
  data: string;
}

export interface CommandsList {
  type: "commands.list";
  payload: SessionPayload;
}

export interface ConfigurePayload {
  sessionId: string;
  mode?: "auto-edit" | "default" | "plan" | "yolo" | null;
  think?: "auto" | "high" | "low" | "medium" | "off" | null;
  model?: string | null;
  agent?: string | null;
  cwd?: string | null;
  folders?: string[] | null;
  title?: string | null;
}

export interface ContinuePayload {
  sessionId: string;
  prompt: string;
  steer?: boolean;
  attachments?: Attachment[];
  ideContext?: IdeContext | null;
  requestId?: string | null;
}

export interface DenyResult {
  behavior: "deny";
  message?: string;
}

export interface FilePayload {
  sessionId: string;
  path: string;
}

export interface FilesList {
  type: "files.list";
  payload: SessionPayload;
}

export interface FilesRead {
  type: "files.read";
  payload: FilePayload;
}

export interface FolderPayload {
  cwd?: string | null;
}

export interface FollowPayload {
  sessionId: string;
  afterSeq: number;
  afterPart?: number;
}

export interface IdeContext {
  activeFile?: ActiveFile | null;
  selection?: Selection | null;
}

export interface IdeContextChanged {
  type: "ide.context";
  payload: IdeContext;
}

export interface ListPayload {
  cwd?: string | null;
  text?: string;
  limit?: number;
}

export interface PermissionPayload {
  sessionId: string;
  result: AllowResult | DenyResult | StopResult | PlanResult;
  toolUseId?: string | null;
  askId?: string | null;
}

export interface PermissionResponse {
  type: "permission.response";
  payload: PermissionPayload;
}

export interface PlanResult {
  behavior: "plan";
  option?: "default" | "feedback" | "keep" | "smart" | null;
  approved?: boolean | null;
  feedback?: string;
}

export interface PromptEdit {
  type: "prompt.edit";
  payload: PromptPayload;
}

export interface PromptPayload {
  sessionId: string;
  promptId: string;
  prompt?: string;
}

export interface PromptRecall {
  type: "prompt.recall";
  payload: PromptPayload;
}

export interface Selection {
  filePath: string;
  text: string;
  lineStart: number;
  lineEnd: number;
  fileName?: string;
}

export interface SessionClear {
  type: "session.clear";
  payload: SessionPayload;
}

export interface SessionConfigure {
  type: "session.configure";
  payload: ConfigurePayload;
}

export interface SessionContinue {
  type: "session.continue";
  payload: ContinuePayload;
}

export interface SessionDelete {
  type: "session.delete";
  payload: SessionPayload;
}

export interface SessionFollow {
  type: "session.follow";
  payload: FollowPayload;
}

export interface SessionHistory {
  type: "session.history";
  payload: SessionPayload;
}

export interface SessionList {
  type: "session.list";
  payload?: ListPayload;
}

export interface SessionPayload {
  sessionId: string;
}

export interface SessionStart {
  type: "session.start";
  payload: StartPayload;
}

export interface SessionStop {
  type: "session.stop";
  payload: SessionPayload;
}

export interface StartPayload {
  prompt: string;
  title?: string;
  cwd?: string | null;
  allowedTools?: string | null;
  mode?: "auto-edit" | "default" | "plan" | "yolo" | null;
  model?: string | null;
  agent?: string | null;
  think?: "auto" | "high" | "low" | "medium" | "off" | null;
  folders?: string[];
  attachments?: Attachment[];
  ideContext?: IdeContext | null;
  requestId?: string | null;
}

export interface StatisticsSubscribe {
  type: "statistics.subscribe";
  payload: SwitchPayload;
}

export interface StopResult {
  behavior: "deny_and_stop";
}

export interface SwitchPayload {
  on: boolean;
}

export interface TaskHistory {
  type: "task.history";
  payload: TaskPayload;
}

export interface TaskPayload {
  sessionId: string;
  toolUseId: string;
}

export interface TurnDiff {
  type: "turn.diff";
  payload: TurnPayload;
}

export interface TurnPayload {
  sessionId: string;
  turnId: string;
}

export interface TurnUndo {
  type: "turn.undo";
  payload: TurnPayload;
}

export interface TurnsList {
  type: "turns.list";
  payload: TurnsPayload;
}

export interface TurnsPayload {
  sessionId: string;
  limit?: number;
}

export type ClientEvent =
  | SessionList
  | SessionStart
  | SessionContinue
  | SessionStop
  | SessionDelete
  | SessionHistory
  | PermissionResponse
  | SessionFollow
  | SessionConfigure
  | SessionClear
  | PromptRecall
  | PromptEdit
  | FilesList
  | FilesRead
  | TaskHistory
  | TurnsList
  | TurnDiff
  | TurnUndo
  | IdeContextChanged
  | CommandsList
  | AgentsRecheck
  | StatisticsSubscribe;
