// What a conversation shows, one item after the other, made from the messages of the contract.

import type { Resolution, Retold } from "../contract/server_events";

export type Input = Record<string, unknown>;

export interface ToolItem {
  kind: "tool";
  key: string;
  id: string;
  name: string;
  input: Input;
  status: "pending" | "success" | "error";
  result?: string;
  output?: string; // of a command that still runs
  /** Its process went away while it ran. */
  isUnknown?: boolean;
  durationMs?: number;
  child?: string;
  author?: string;
  resolution?: Decided;
}

export interface SaidPrompt {
  text: string;
  by?: string;
  via?: string;
  steer?: boolean;
  /** How many images it has; they are fetched by `promptId`. */
  images?: number;
  promptId?: string;
}

export interface TokenCounts {
  input: number;
  cached: number;
  output: number;
}

export type Item =
  | ({ kind: "prompt"; key: string } & SaidPrompt)
  | { kind: "text"; key: string; text: string }
  | { kind: "thinking"; key: string; text: string }
  | { kind: "init"; key: string; model: string; mode: string; cwd: string; agent: string; sessionId: string }
  | { kind: "result"; key: string; ok: boolean; ms: number; tokens: TokenCounts; costUsd: number; error?: string; retold?: Retold }
  | { kind: "line"; key: string; line: Line; text: string; detail?: string }
  | ToolItem;

type InitItem = Extract<Item, { kind: "init" }>;

/** What a line says is told by the page, in its language. */
export type Line = "compacted" | "cleared" | "workflow" | "command" | "undone" | "background" | "resolved";

export type Message = Record<string, any> & { type?: string };

/** What was decided about a tool use; `mine` if this page did. */
export type Decided = Resolution & { toolUseId?: string; askId?: string; mine?: boolean };

/** Adds items at the end of a list that it owns. */
export class ItemList {
  private lastInit: InitItem | null | undefined; // not looked for yet

  constructor(public items: Item[] = []) {
    if (!items.length) this.lastInit = null;
  }

  /** The items of a history, with what was decided about its tool uses. */
  static from(messages: Message[], decided: Decided[] = []): Item[] {
    const list = new ItemList();
    for (const message of messages) list.add(message);
    if (!decided.length) return list.items;
    const byTool = new Map(decided.map((each) => [each.toolUseId, each]));
    return list.items.map((each) => (each.kind === "tool" && byTool.has(each.id) ? { ...each, resolution: byTool.get(each.id) } : each));
  }

  /** Add a message. Unknown types add nothing. */
  add(message: Message): void {
    switch (message?.type) {
      case "user_prompt":
        if (typeof message.prompt === "string")
          this.prompt({ text: message.prompt, images: message.images, promptId: message.promptId, steer: !!message.steer });
        break;
      case "system":
        this.system(message);
        break;
      case "assistant":
        for (const block of blocks(message)) this.said(block, message);
        break;
      case "user":
        for (const block of blocks(message)) if (block?.type === "tool_result") this.result(block, message);
        break;
      case "result":
        this.ended(message);
        break;
    }
  }

  prompt(said: SaidPrompt): void {
    this.items.push({ kind: "prompt", key: this.key(), ...said });
  }

  line(line: Line, text: string, detail?: string): void {
    this.items.push({ kind: "line", key: this.key(), line, text, detail });
  }

  /** What an undo put back, and what it left alone. */
  undone(files: Record<string, unknown>): void {
    const back = [...paths(files.restored), ...paths(files.removed)];
    this.line("undone", back.join("\n"), paths(files.conflicts).join("\n"));
  }

  /** Change the last tool use with this id. Returns whether there is one. */
  tool(id: unknown, change: (tool: ToolItem) => ToolItem): boolean {
    for (let index = this.items.length - 1; index >= 0; index--) {
      const item = this.items[index]!;
      if (item.kind === "tool" && item.id === id) {
        this.items[index] = change(item);
        return true;
      }
    }
    return false;
  }

  /** The error of the last turn in other languages: the status tells them after its message. */
  retell(error: unknown, retold: Retold | undefined): void {
    const last = this.items.findLastIndex((each) => each.kind === "result");
    const item = this.items[last];
    if (retold && item?.kind === "result" && item.error === error) this.items[last] = { ...item, retold };
  }

  private key(): string {
    return `i${this.items.length}`;
  }

  private system(message: Message): void {
    if (message.subtype === "compact_boundary") this.line("compacted", "", text(message.summary));
    else if (message.subtype === "history_cleared") this.line("cleared", "");
    else if (message.subtype === "workflow") this.line("workflow", text(message.text));
    else if (message.subtype === "turn_undone") this.undone(message);
    else if (message.subtype === "init") this.init(message);
  }

  /** Every turn begins with one; it is shown if it says something new. */
  private init(message: Message): void {
    const item: InitItem = {
      kind: "init",
      key: this.key(),
      model: text(message.model),
      mode: text(message.permissionMode),
      cwd: text(message.cwd),
      agent: text(message.agent),
      sessionId: text(message.session_id),
    };
    if (this.lastInit === undefined) this.lastInit = this.items.findLast((each) => each.kind === "init") ?? null;
    const last = this.lastInit;
    if (last && last.model === item.model && last.mode === item.mode && last.cwd === item.cwd) return;
    this.items.push(item);
    this.lastInit = item;
  }

  private said(block: Message, message: Message): void {
    if (block?.type === "text" && text(block.text).trim())
      this.items.push({ kind: "text", key: this.key(), text: text(block.text) });
    else if (block?.type === "thinking" && text(block.thinking).trim())
      this.items.push({ kind: "thinking", key: this.key(), text: text(block.thinking) });
    else if (block?.type === "tool_use" && typeof block.id === "string")
      this.items.push({
        kind: "tool",
        key: this.key(),
        id: block.id,
        name: text(block.name),
        input: block.input && typeof block.input === "object" ? block.input : {},
        status: "pending",
        ...(typeof message.author === "string" ? { author: message.author } : {}),
      });
  }

  private result(block: Message, message: Message): void {
    const told = message.duration_ms;
    this.tool(block.tool_use_id, (tool) => ({
      ...tool,
      status: block.is_error ? "error" : "success",
      result: contentText(block.content),
      output: undefined,
      ...(typeof told === "number" ? { durationMs: told } : {}),
      ...(message.outcome === "unknown" ? { isUnknown: true } : {}),
    }));
  }

  private ended(message: Message): void {
    const usage = message.usage ?? {};
    const cached = number(usage.cache_read_input_tokens);
    const input = number(usage.input_tokens) + number(usage.cache_creation_input_tokens);
    this.items.push({
      kind: "result",
      key: this.key(),
      ok: message.subtype === "success",
      ms: number(message.duration_ms),
      tokens: { input, cached, output: number(usage.output_tokens) },
      costUsd: number(message.total_cost_usd),
      ...(typeof message.error === "string" ? { error: message.error } : {}),
    });
  }
}

function blocks(message: Message): Message[] {
  const content = message.message?.content;
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content : [];
}

function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return content == null ? "" : JSON.stringify(content, null, 2);
  return content.map((each) => (each?.type === "text" ? text(each.text) : `[${text(each?.type)}]`)).join("\n");
}

function paths(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function number(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}
