// The calls of the server besides the stream of events.

import { LANGUAGE } from "../language/t";
import { token } from "./token";

export class CallFailed extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

async function call<T>(path: string, body?: unknown): Promise<T> {
  const headers: Record<string, string> = { authorization: `Bearer ${token()}`, "accept-language": LANGUAGE };
  const more = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  if (body !== undefined) headers["content-type"] = "application/json";
  const answer = await fetch(path, { headers, ...more });
  const value = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new CallFailed(String(value.error ?? answer.statusText), answer.status);
  return value as T;
}

export interface Folders {
  path: string;
  folders: string[];
  parent: string | null;
  whole: boolean;
}

export interface Choices {
  cwd: string;
  defaults: { agent: string; model: string; mode: string };
  models: { name: string; source: string; window?: number }[];
  agents: { name: string; description: string; problem?: string }[];
}

export interface Machine {
  hostname: string;
  cpuModel: string;
  cpuCount: number;
  totalMemory: number;
  totalDisk: number;
}

export const machine = () => call<Machine>("/api/machine");
export const promptImage = (session: string, prompt: string, number: number) =>
  call<{ mimeType: string; data: string }>(`/api/sessions/${session}/images/${encodeURIComponent(prompt)}/${number}`);
export const recentFolders = () => call<{ cwds: string[] }>("/api/recent-cwds").then((found) => found.cwds);
export const folders = (path: string) => call<Folders>(`/api/dirs?path=${encodeURIComponent(path)}`);
export const choices = (cwd: string) => call<Choices>(`/api/defaults?cwd=${encodeURIComponent(cwd)}`);
export const suggestTitle = (prompt: string, cwd?: string) =>
  call<{ title: string }>("/api/title", { prompt, cwd }).then((found) => found.title);

/** Whether the server refuses the token; false if it does not answer at all. */
export async function isRefused(): Promise<boolean> {
  try {
    await call("/api/recent-cwds?limit=1");
    return false;
  } catch (error) {
    return error instanceof CallFailed && error.status === 401;
  }
}
