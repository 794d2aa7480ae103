import { useEffect } from "react";
import { send } from "../connection/socket";
import { t } from "../language/t";
import { Dialog, DialogHeader } from "../parts/Dialog";
import { taskKey } from "../state/state";
import { useStore } from "../store";
import { ItemRow } from "./ItemRow";

const LOOK_AGAIN = 1500;

/** What the agent of a task did, in its own conversation. While it works, it is looked at again and again. */
export default function TaskDialog({ sessionId, toolUseId, title, onClose }: { sessionId: string; toolUseId: string; title: string; onClose: () => void }) {
  const task = useStore((state) => state.tasks[taskKey(sessionId, toolUseId)]);
  const cwd = useStore((state) => state.sessions[sessionId]?.row.cwd) ?? "";
  const isOver = task !== undefined && task.status !== "running";
  useEffect(() => {
    if (isOver) return;
    const look = () => send({ type: "task.history", payload: { sessionId, toolUseId } });
    look();
    const timer = window.setInterval(look, LOOK_AGAIN);
    return () => window.clearInterval(timer);
  }, [isOver, sessionId, toolUseId]);
  return (
    <Dialog title={title} className="task" onClose={onClose}>
      <DialogHeader title={title} onClose={onClose} />
      <div className="min-h-0 flex-1 overflow-y-auto px-5 pb-5" tabIndex={0} data-autofocus>
        {!task && <p className="py-6 text-sm text-faint">{t("Loading …")}</p>}
        {task?.items.map((each, index) => (
          <ItemRow key={each.key} item={each} asks={[]} sessionId={taskKey(sessionId, toolUseId)} cwd={cwd} isFirst={index === 0} />
        ))}
        {task?.status === "running" && (
          <p className="flex items-center gap-2 py-2 text-sm text-faint">
            <span className="status-dot running" />
            {t("Working …")}
          </p>
        )}
      </div>
    </Dialog>
  );
}
