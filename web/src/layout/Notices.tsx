import { t } from "../language/t";
import { CloseIcon } from "../parts/icons";
import { dispatch, useStore } from "../store";

export function Notices() {
  const notices = useStore((state) => state.notices);
  const sessions = useStore((state) => state.sessions);
  return (
    <div role="alert" className="pointer-events-none fixed inset-x-3 top-3 z-30 flex flex-col items-end gap-2">
      {notices.map((each) => {
        const title = each.sessionId && sessions[each.sessionId]?.row.title;
        return (
          <div
            key={each.id}
            className="fade-in pointer-events-auto flex max-w-md items-start gap-2 rounded-lg border border-line bg-raised py-2 pr-2 pl-3.5 text-sm shadow-lg"
          >
            <span className="status-dot bad mt-[0.45rem]" />
            <span className="min-w-0 whitespace-pre-line break-words">
              {title && <span className="block text-xs text-faint">{title}</span>}
              {each.kind === "deleted" ? t("“{title}” was deleted elsewhere.", { title: each.text || t("Untitled") }) : each.text}
            </span>
            <button
              type="button"
              className="icon-button -my-0.5"
              aria-label={t("Dismiss")}
              onClick={() => dispatch({ kind: "dismissed", id: each.id })}
            >
              <CloseIcon size={14} />
            </button>
          </div>
        );
      })}
    </div>
  );
}
