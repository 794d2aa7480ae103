import { send } from "../connection/socket";
import type { PermissionPayload } from "../contract/client_events";
import type { AskRequest } from "../contract/server_events";
import { t } from "../language/t";
import { dispatch } from "../store";

export type Result = PermissionPayload["result"];

/** Answer an ask. It stays open on the page until the server says that it is resolved. Returns whether it was sent. */
export function answer(ask: AskRequest, result: Result): boolean {
  const payload = { sessionId: ask.sessionId, toolUseId: ask.toolUseId, askId: ask.askId, result };
  const isSent = send({ type: "permission.response", payload });
  if (isSent) dispatch({ kind: "answered", askId: ask.askId });
  else dispatch({ kind: "told", text: t("There is no connection. The answer was not sent.") });
  return isSent;
}
