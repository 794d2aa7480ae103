// The state of the page, for components.

import { create } from "zustand";
import { LANGUAGE } from "./language/t";
import { type Action, reduce } from "./state/reduce";
import { INITIAL, type Session, type State } from "./state/state";

const SELECTED = "session";

/** A tab that is loaded anew shows the session that it showed. */
export const useStore = create<State>(() => ({ ...INITIAL, language: LANGUAGE, selected: sessionStorage.getItem(SELECTED) }));
useStore.subscribe(({ selected }, before) => {
  if (selected && selected !== before.selected) sessionStorage.setItem(SELECTED, selected);
});

export function dispatch(action: Action): void {
  useStore.setState((state) => reduce(state, action), true);
}

export function useSelected(): Session | null {
  return useStore((state) => (state.selected ? (state.sessions[state.selected] ?? null) : null));
}
