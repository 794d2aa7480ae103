import type { KeyboardEvent } from "react";
import type { SessionRow } from "../contract/server_events";

export type Enter = "send" | "queue" | "steer" | "stop" | "nothing";

/** What Enter does. While the session works, its setting says so; with Ctrl it is the other way to send. */
export function enterAction(row: Pick<SessionRow, "status" | "inputWhileRunning">, withCtrl: boolean): Enter {
  if (row.status !== "running") return "send";
  switch (row.inputWhileRunning) {
    case "steer":
      return withCtrl ? "queue" : "steer";
    case "stop":
      return withCtrl ? "queue" : "stop";
    case "ignore":
      return "nothing";
    default:
      return withCtrl ? "steer" : "queue";
  }
}

/** Whether a key belongs to an input method, which makes characters of several keys. Safari says so by its number only. */
export function isComposing({ nativeEvent }: KeyboardEvent): boolean {
  return nativeEvent.isComposing || nativeEvent.keyCode === 229;
}
