import type { AskRequest } from "../contract/server_events";
import { t } from "../language/t";

/** What an ask is about, in one line. */
export function askTitle(ask: AskRequest): string {
  switch (ask.kind) {
    case "question": {
      const questions = ask.input.questions as { question?: string }[] | undefined;
      return questions?.[0]?.question ?? t("A question");
    }
    case "plan":
      return t("A plan to approve");
    case "budget":
      return t("The budget is used up");
    default:
      return ask.commandInfo?.command ?? ask.title ?? ask.toolName;
  }
}

/** The question that a permission card puts. */
export function permissionQuestion(ask: AskRequest): string {
  if (ask.commandInfo) return t("Run this command?");
  if (ask.url) return t("Open this address?");
  if (ask.diff || ask.permissionType === "write") return t("Make this change?");
  if (ask.toolName === "Read") return t("Read this file?");
  return t("Allow {tool}?", { tool: ask.toolName });
}

const VIAS: Record<string, () => string> = {
  terminal: () => t("in the terminal"),
  web: () => t("in a browser"),
  feishu: () => t("in the chat"),
  acp: () => t("in the editor"),
  cli: () => t("on the command line"),
};

/** Where an answer came from. */
export function viaText(via: string | undefined): string {
  return via ? (VIAS[via]?.() ?? via) : "";
}

/** What “always” would remember of a command. */
export function rememberedCommand(ask: AskRequest): string {
  const signature = ask.commandSignature;
  if (!signature?.words) return signature?.text ?? "";
  return signature.words.join(" ") + (signature.prefix ? " …" : "");
}
