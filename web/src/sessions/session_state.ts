import { t } from "../language/t";
import { openAsks, type Session } from "../state/state";

/** The state of a session as a dot and in a word. */
export function sessionState(session: Session): { dot: string; label: string } {
  if (openAsks(session) > 0) return { dot: "waiting", label: t("Waiting for you") };
  switch (session.row.status) {
    case "running":
      if (session.row.waiting) return { dot: "waiting", label: t("Not running") };
      return { dot: "running", label: t("Running") };
    case "completed":
      return { dot: "good", label: t("Done") };
    case "error":
      return { dot: "bad", label: t("Failed") };
    default:
      return { dot: "", label: t("Idle") };
  }
}

export function ago(at: number, now = Date.now()): string {
  const minutes = Math.floor((now - at) / 60_000);
  if (minutes < 1) return t("now");
  if (minutes < 60) return t("{n} min", { n: minutes });
  if (minutes < 60 * 24) return t("{n} h", { n: Math.floor(minutes / 60) });
  return t("{n} d", { n: Math.floor(minutes / 60 / 24) });
}

export function folderName(path: string | undefined): string {
  return path?.replace(/\/+$/, "").split("/").pop() || path || "";
}
