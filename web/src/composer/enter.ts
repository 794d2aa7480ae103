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
