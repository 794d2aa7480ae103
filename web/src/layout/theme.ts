// Light, dark, or what the system says.

import { useState } from "react";

export type Theme = "system" | "light" | "dark";
const KEY = "theme";

export function currentTheme(): Theme {
  const kept = localStorage.getItem(KEY);
  return kept === "light" || kept === "dark" ? kept : "system";
}

export function applyTheme(theme: Theme = currentTheme()): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, set] = useState(currentTheme);
  return [
    theme,
    (next) => {
      localStorage.setItem(KEY, next);
      applyTheme(next);
      set(next);
    },
  ];
}
