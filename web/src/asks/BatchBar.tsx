import type { AskRequest } from "../contract/server_events";
import { t } from "../language/t";
import { useStore } from "../store";
import { answer } from "./answer";

/** Several permissions at once: decide all, or each on its own card. */
export function BatchBar({ asks }: { asks: AskRequest[] }) {
  const answered = useStore((state) => state.answered);
  const isOpen = useStore((state) => state.connection === "open");
  const permissions = asks.filter((each) => each.kind === "permission" && answered[each.askId] !== "sent");
  if (permissions.length < 2) return null;
  return (
    <div className="my-2 flex flex-wrap items-center gap-2 text-sm text-soft">
      <span className="mr-2">{t("{n} permissions are waiting", { n: permissions.length })}</span>
      <button
        type="button"
        className="button"
        disabled={!isOpen}
        onClick={() => permissions.forEach((each) => answer(each, { behavior: "allow", scope: "once" }))}
      >
        {t("Allow all once")}
      </button>
      <button type="button" className="button" disabled={!isOpen} onClick={() => permissions.forEach((each) => answer(each, { behavior: "deny" }))}>
        {t("Deny all")}
      </button>
    </div>
  );
}
