import { useState } from "react";
import { t } from "../language/t";
import { ReviewDialog } from "../panel/ReviewDialog";
import { UndoDialog } from "../panel/UndoDialog";
import { useTurns } from "../panel/use_files";
import type { Session } from "../state/state";

/** What the last turn changed, below the conversation: to look at, and to undo. */
export function LastChanges({ session }: { session: Session }) {
  const [dialog, setDialog] = useState<"review" | "undo" | null>(null);
  useTurns(session, 1);
  const turn = session.turns?.latest[0];
  if (!turn?.changes.length || session.row.status === "running" || session.turns?.isStale) return null;
  const sum = (name: "added" | "deleted") => turn.changes.reduce((all, each) => all + each[name], 0);
  const close = () => setDialog(null);
  return (
    <div className="flex items-center gap-3 py-1 text-xs text-faint" data-changes>
      <span>
        {turn.changes.length === 1 ? turn.changes[0]!.path : t("Files changed: {n}", { n: turn.changes.length })}{" "}
        <span className="text-good">+{sum("added")}</span> <span className="text-bad">−{sum("deleted")}</span>
      </span>
      <button type="button" className="text-accent hover:underline" onClick={() => setDialog("review")}>
        {t("Review")}
      </button>
      {!turn.problem && (
        <button type="button" className="text-accent hover:underline" onClick={() => setDialog("undo")}>
          {t("Undo …")}
        </button>
      )}
      {dialog === "review" && <ReviewDialog session={session} turn={turn} onClose={close} />}
      {dialog === "undo" && <UndoDialog sessionId={session.row.id} turn={turn} onClose={close} />}
    </div>
  );
}
