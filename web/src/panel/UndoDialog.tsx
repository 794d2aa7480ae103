import { send } from "../connection/socket";
import type { Turn } from "../contract/server_events";
import { t } from "../language/t";
import { Dialog, DialogHeader } from "../parts/Dialog";

/** What an undo would do, before it is done. */
export function UndoDialog({ sessionId, turn, onClose }: { sessionId: string; turn: Turn; onClose: () => void }) {
  const undo = () => {
    if (send({ type: "turn.undo", payload: { sessionId, turnId: turn.turnId } })) onClose();
  };
  return (
    <Dialog title={t("Undo the last turn?")} onClose={onClose}>
      <DialogHeader title={t("Undo the last turn?")} onClose={onClose} />
      <div className="space-y-3 px-5 pt-2 pb-5 text-sm">
        <p className="text-soft">
          {t("Its changes are taken back, and the model goes on as if it had not happened. Files that were changed since are left alone.")}
        </p>
        <ul className="max-h-60 overflow-y-auto font-mono text-[13px]">
          {turn.changes.map((each) => (
            <li key={each.path} className="truncate">
              {each.path}
              {each.covered === false && <span className="font-sans text-xs text-warn"> {t("cannot be put back")}</span>}
            </li>
          ))}
        </ul>
        <div className="flex justify-end gap-2">
          <button type="button" className="button" onClick={onClose}>
            {t("Cancel")}
          </button>
          <button type="button" className="button primary" data-autofocus onClick={undo}>
            {t("Undo")}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
