// What goes with the next message besides its text: a selection made in this page, or what an editor shows.

import { create } from "zustand";
import type { IdeContext, Selection } from "../contract/client_events";

export const MOST_SELECTED = 5000;

interface Contexts {
  /** By session. */
  selections: Record<string, Selection>;
  /** The context of the editor that was removed from the message: it does not come back until it changes. */
  removed: IdeContext | null;
}

export const useContexts = create<Contexts>(() => ({ selections: {}, removed: null }));

export function attachSelection(sessionId: string, selection: Selection): void {
  const cut = { ...selection, text: selection.text.slice(0, MOST_SELECTED) };
  useContexts.setState(({ selections }) => ({ selections: { ...selections, [sessionId]: cut } }));
}

export function detachSelection(sessionId: string): void {
  useContexts.setState(({ selections }) => {
    const { [sessionId]: _, ...others } = selections;
    return { selections: others };
  });
}

export function removeIdeContext(context: IdeContext): void {
  useContexts.setState({ removed: context });
}

/** What a message of a session takes along, or null. The page's own selection counts before the editor's. */
export function contextOf(sessionId: string, { selections, removed }: Contexts, ide: IdeContext | null): IdeContext | null {
  const own = selections[sessionId];
  if (own) return { selection: own };
  return ide && ide !== removed ? ide : null;
}
