import { viaText } from "../asks/ask_text";
import type { Resolution } from "../contract/server_events";
import { t } from "../language/t";

/** What was decided; by whom and where, if it was not on this page. */
export function askResolutionText(resolution: Resolution & { mine?: boolean }): string {
  const decided = decision(resolution);
  if (resolution.mine || !(resolution.by || resolution.via)) return decided;
  return [decided, resolution.by, viaText(resolution.via)].filter(Boolean).join(" · ");
}

function decision({ behavior, scope, message, option, answers, by }: Resolution): string {
  switch (behavior) {
    case "allow":
      if (answers) return t("Answered");
      if (scope === "session") return t("Allowed in this session");
      if (scope === "project") return t("Allowed in this folder");
      if (scope === "person") return t("Allowed everywhere");
      return t("Allowed");
    case "deny_and_stop":
      return t("Denied and stopped");
    case "plan":
      return option === "smart" || option === "default" ? t("Plan approved") : t("Plan not approved yet");
    default:
      if (message && !by) return t("Ended without an answer");
      return message ? t("Denied: {message}", { message }) : t("Denied");
  }
}
