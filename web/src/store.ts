// The state of the page, for components.

import { create } from "zustand";
import { LANGUAGE } from "./language/t";
import { type Action, reduce } from "./state/reduce";
import { INITIAL, type Session, type State } from "./state/state";

export const useStore = create<State>(() => ({ ...INITIAL, language: LANGUAGE }));

export function dispatch(action: Action): void {
  useStore.setState((state) => reduce(state, action), true);
}

export function useSelected(): Session | null {
  return useStore((state) => (state.selected ? (state.sessions[state.selected] ?? null) : null));
}
