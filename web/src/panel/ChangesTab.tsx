import { useState } from "react";
import type { Turn } from "../contract/server_events";
import { inLanguage, t } from "../language/t";
import { useMinute } from "../sessions/minute";
import { ago } from "../sessions/session_state";
import type { Session } from "../state/state";
import { ChangedFiles } from "./ChangedFiles";
import { ReviewDialog } from "./ReviewDialog";
import { UndoDialog } from "./UndoDialog";
import { useTurns } from "./use_files";

const MOST_TURNS = 30;

/** What each turn changed, latest first. */
export function ChangesTab({ session }: { session: Session }) {
  useTurns(session, MOST_TURNS);
  useMinute();
  const turns = session.turns?.latest ?? [];
  const isRunning = session.row.status === "running";
  return (
    <div className="min-h-0 flex-1 overflow-y-auto px-4 py-3 text-sm">
      {turns.map((turn, index) => (
        <TurnChanges key={turn.turnId} session={session} turn={turn} isLast={index === 0 && !isRunning} />
      ))}
      {session.turns && !turns.length && <p className="py-6 text-center text-faint">{t("No turn has ended yet")}</p>}
    </div>
  );
}

function TurnChanges({ session, turn, isLast }: { session: Session; turn: Turn; isLast: boolean }) {
  const [dialog, setDialog] = useState<{ path?: string } | "undo" | null>(null);
  const close = () => setDialog(null);
  return (
    <section className="border-b border-line py-3 first:pt-0 last:border-0" aria-label={turn.prompt}>
      <p className="line-clamp-2" title={turn.prompt}>
        {turn.prompt}
      </p>
      <p className="mt-0.5 flex items-center gap-3 text-xs text-faint">
        <span>{ago(turn.at)}</span>
        {turn.changes.length > 0 && (
          <button type="button" className="text-accent hover:underline" onClick={() => setDialog({})}>
            {t("Review")}
          </button>
        )}
        {isLast && !turn.problem && (
          <button type="button" className="text-accent hover:underline" onClick={() => setDialog("undo")}>
            {t("Undo …")}
          </button>
        )}
      </p>
      {turn.changes.length ? (
        <ChangedFiles changes={turn.changes} onOpen={(path) => setDialog({ path })} />
      ) : (
        <p className="mt-1 text-xs text-faint">{t("No files were changed")}</p>
      )}
      {turn.problem && <p className="mt-1 text-xs text-warn">{t("Cannot be undone: {problem}", { problem: inLanguage(turn.problem, turn.retold) })}</p>}
      {dialog === "undo" && <UndoDialog sessionId={session.row.id} turn={turn} onClose={close} />}
      {dialog && dialog !== "undo" && <ReviewDialog session={session} turn={turn} first={dialog.path} onClose={close} />}
    </section>
  );
}
