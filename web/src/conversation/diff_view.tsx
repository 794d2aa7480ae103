// Unified or split: one choice for all diffs of the page.

import { create } from "zustand";
import { t } from "../language/t";

export type DiffView = "unified" | "split";
const KEY = "diff-view";

const useView = create<{ view: DiffView }>(() => ({ view: localStorage.getItem(KEY) === "split" ? "split" : "unified" }));

export function useDiffView(): DiffView {
  return useView((state) => state.view);
}

export function DiffSwitch() {
  const other = useDiffView() === "split" ? "unified" : "split";
  const choose = () => {
    localStorage.setItem(KEY, other);
    useView.setState({ view: other });
  };
  return (
    <button type="button" className="ml-auto hover:text-soft max-sm:hidden" onClick={choose}>
      {other === "split" ? t("Split view") : t("Unified view")}
    </button>
  );
}
