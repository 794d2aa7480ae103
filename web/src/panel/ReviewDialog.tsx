import { useEffect, useMemo, useRef } from "react";
import { send } from "../connection/socket";
import type { Turn } from "../contract/server_events";
import { DiffLines } from "../conversation/DiffLines";
import { DiffSwitch, useDiffView } from "../conversation/diff_view";
import { filesOfDiff, rowsOfDiff } from "../conversation/line_diff";
import { t } from "../language/t";
import { Dialog, DialogHeader } from "../parts/Dialog";
import type { Session } from "../state/state";
import { useStore } from "../store";
import { ChangeSize } from "./ChangedFiles";

/** The diff of one turn, file by file; `first` is the file to begin with. */
export function ReviewDialog({ session, turn, first, onClose }: { session: Session; turn: Turn; first?: string; onClose: () => void }) {
  const view = useDiffView();
  const body = useRef<HTMLDivElement>(null);
  const diff = session.diffs[turn.turnId];
  const isKnown = diff !== undefined;
  const isOpen = useStore((state) => state.connection === "open");
  const files = useMemo(() => filesOfDiff(diff ?? "").map((each) => ({ path: each.path, rows: rowsOfDiff(each.diff) })), [diff]);
  useEffect(() => {
    if (isOpen && !isKnown) send({ type: "turn.diff", payload: { sessionId: session.row.id, turnId: turn.turnId } });
  }, [isOpen, isKnown, session.row.id, turn.turnId]);
  useEffect(() => {
    if (isKnown && first) body.current?.querySelector(`[data-file="${CSS.escape(first)}"]`)?.scrollIntoView();
  }, [isKnown, first]);
  return (
    <Dialog title={t("Changes")} className="review" onClose={onClose}>
      <DialogHeader title={turn.prompt} onClose={onClose} />
      <div className="flex items-center px-5 pb-2 text-xs text-faint">
        <span>{t("Files changed: {n}", { n: turn.changes.length })}</span>
        <DiffSwitch />
      </div>
      <div ref={body} className="min-h-0 flex-1 overflow-y-auto px-5 pb-5" tabIndex={0} data-autofocus>
        {!isKnown && <p className="py-6 text-sm text-faint">{t("Loading …")}</p>}
        {files.map((file) => {
          const change = turn.changes.find((each) => each.path === file.path);
          return (
            <section key={file.path} data-file={file.path} aria-label={file.path} className="not-first:mt-5 [content-visibility:auto] [contain-intrinsic-height:auto_20rem]">
              <h3 className="mb-1 flex items-baseline gap-3 font-mono text-[13px]">
                <span className="min-w-0 truncate">{file.path}</span>
                {change && <ChangeSize change={change} />}
              </h3>
              <DiffLines rows={file.rows} view={view} />
            </section>
          );
        })}
      </div>
    </Dialog>
  );
}
