// Notifications of the browser about asks, while the page is not looked at. Off until somebody switches them on.

import { useEffect, useState } from "react";
import { askTitle } from "../asks/ask_text";
import { requestWanted } from "../connection/socket";
import type { AskRequest } from "../contract/server_events";
import { t } from "../language/t";
import { onAsks } from "../sessions/shown_session";
import { dispatch, useStore } from "../store";

const KEY = "notifications";
/** By ask; null if the person was looking at the page when it came. */
const told = new Map<string, Notification | null>();

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

/** Tell of each ask once, until it is answered. */
export function useNotifications(): void {
  useEffect(
    () =>
      onAsks((asks) => {
        if (!("Notification" in window)) return;
        for (const ask of asks) if (!told.has(ask.askId)) told.set(ask.askId, isWanted() ? notification(ask) : null);
        const { connection, list } = useStore.getState();
        if (connection === "open" && list === "current") forget(new Set(asks.map((each) => each.askId)));
      }),
    [],
  );
}

function isWanted(): boolean {
  return localStorage.getItem(KEY) === "on" && Notification.permission === "granted" && !document.hasFocus();
}

function notification(ask: AskRequest): Notification | null {
  try {
    const title = useStore.getState().sessions[ask.sessionId]?.row.title;
    const shown = new Notification(title || "coder", { body: askTitle(ask), tag: ask.askId });
    shown.onclick = () => {
      window.focus();
      dispatch({ kind: "selected", id: ask.sessionId });
      requestWanted();
    };
    return shown;
  } catch {
    return null; // some browsers on phones let only service workers show them
  }
}

/** What was answered meanwhile, here or elsewhere, does not ask for attention any more. */
function forget(open: Set<string>): void {
  for (const [askId, shown] of told)
    if (!open.has(askId)) {
      shown?.close();
      told.delete(askId);
    }
}
