// What is written and not sent yet, for each session. Texts outlive reloads; images are too large for that.

import { useEffect } from "react";
import { create } from "zustand";
import type { Attachment } from "../contract/client_events";
import { dispatch, useStore } from "../store";

const PREFIX = "draft:";
const NONE: Attachment[] = [];
export const useDrafts = create<Record<string, string>>(() => ({}));
export const useImages = create<Record<string, Attachment[]>>(() => ({}));

export function draftOf(session: string, drafts: Record<string, string>): string {
  return drafts[session] ?? localStorage.getItem(PREFIX + session) ?? "";
}

export function setDraft(session: string, text: string): void {
  useDrafts.setState({ [session]: text });
  try {
    if (text) localStorage.setItem(PREFIX + session, text);
    else localStorage.removeItem(PREFIX + session);
  } catch {
    // the browser keeps no more; the page still has it
  }
}

export function imagesOf(session: string, images: Record<string, Attachment[]>): Attachment[] {
  return images[session] ?? NONE;
}

export function addImages(session: string, added: Attachment[]): void {
  if (added.length) useImages.setState((before) => ({ [session]: [...imagesOf(session, before), ...added] }));
}

export function setImages(session: string, images: Attachment[]): void {
  useImages.setState({ [session]: images });
}

/** What did not reach the server is a draft again, before whatever was typed since. */
export function useReturned(): void {
  const returned = useStore((state) => state.returned);
  useEffect(() => {
    for (const [session, { text, images }] of Object.entries(returned)) {
      setDraft(session, [text, draftOf(session, useDrafts.getState())].filter(Boolean).join("\n\n"));
      addImages(session, images);
      dispatch({ kind: "taken-back", sessionId: session });
    }
  }, [returned]);
}
