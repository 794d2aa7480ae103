// What is typed and not sent yet, for each session. It outlives reloads.

import { create } from "zustand";

const PREFIX = "draft:";
export const useDrafts = create<Record<string, string>>(() => ({}));

export function draftOf(session: string, drafts: Record<string, string>): string {
  return drafts[session] ?? localStorage.getItem(PREFIX + session) ?? "";
}

export function setDraft(session: string, text: string): void {
  useDrafts.setState({ [session]: text });
  if (text) localStorage.setItem(PREFIX + session, text);
  else localStorage.removeItem(PREFIX + session);
}
