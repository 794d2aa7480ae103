// Notifications of the browser about asks, while the page is not looked at. Off until somebody switches them on.

import { useEffect, useState } from "react";
import { askTitle } from "../asks/ask_text";
import { t } from "../language/t";
import { dispatch, useStore } from "../store";

const KEY = "notifications";
const shown = new Set<string>();

export function useNotificationSwitch(): [boolean, () => void] {
  const [isOn, setOn] = useState(() => "Notification" in window && localStorage.getItem(KEY) === "on" && Notification.permission === "granted");
  const toggle = async () => {
    const next = !isOn && (await Notification.requestPermission()) === "granted";
    if (!isOn && !next) dispatch({ kind: "told", text: t("The browser does not allow notifications for this page.") });
    localStorage.setItem(KEY, next ? "on" : "off");
    setOn(next);
  };
  return [isOn, () => void toggle()];
}

/** Tell of each ask once. */
export function useNotifications(): void {
  useEffect(
    () =>
      useStore.subscribe((state) => {
        if (!("Notification" in window) || localStorage.getItem(KEY) !== "on" || document.hasFocus()) return;
        for (const session of Object.values(state.sessions))
          for (const ask of session.asks) {
            if (shown.has(ask.askId)) continue;
            shown.add(ask.askId);
            const told = new Notification(session.row.title || "coder", { body: askTitle(ask), tag: ask.askId });
            told.onclick = () => {
              window.focus();
              dispatch({ kind: "selected", id: session.row.id });
            };
          }
      }),
    [],
  );
}
