import { askTitle } from "../asks/ask_text";
import { t } from "../language/t";
import { useAsks, useShownSession } from "./shown_session";

/** Every open ask of every session. */
export function Inbox({ onChoose }: { onChoose: (id: string) => void }) {
  const asks = useAsks();
  if (!asks.length) return null;
  return (
    <section aria-label={t("Waiting for you")} className="mb-2 border-b border-line pb-2">
      <h2 className="px-2.5 pt-1 pb-1 text-xs text-faint">
        {t("Waiting for you")} <span className="text-warn">{asks.length}</span>
      </h2>
      <ul>
        {asks.map((ask) => (
          <li key={ask.askId}>
            <button
              type="button"
              className="flex w-full items-start gap-2.5 rounded-lg px-2.5 py-1.5 text-left hover:bg-hover"
              onClick={() => onChoose(ask.sessionId)}
            >
              <span className="status-dot waiting mt-[0.45rem]" />
              <span className="min-w-0">
                <span className="block truncate text-sm leading-snug">{askTitle(ask)}</span>
                <span className="block truncate text-xs text-faint"><SessionTitle id={ask.sessionId} /></span>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function SessionTitle({ id }: { id: string }) {
  return useShownSession(id)?.row.title || t("Untitled");
}
