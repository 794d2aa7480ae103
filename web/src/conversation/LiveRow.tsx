import { useMemo } from "react";
import { AskCard } from "../asks/AskCard";
import { BatchBar } from "../asks/BatchBar";
import { requestWanted } from "../connection/socket";
import type { SessionRow } from "../contract/server_events";
import { inLanguage, t } from "../language/t";
import { GrowingMarkdown } from "../markdown/Markdown";
import type { Session } from "../state/state";
import { dispatch } from "../store";
import { LastChanges } from "./LastChanges";
import { Thinking } from "./Thinking";

/** The end of the conversation: what is being written, asks that belong to no call, and that it works. */
export function LiveRow({ session }: { session: Session }) {
  const { writing, asks, row, note, items } = session;
  const others = useMemo(() => {
    const tools = new Set(items.flatMap((each) => (each.kind === "tool" ? [each.id] : [])));
    return asks.filter((each) => each.childSessionId || !tools.has(each.toolUseId));
  }, [items, asks]);
  const isWorking = row.status === "running" && !asks.length && !row.waiting;
  return (
    <div className="pb-8">
      {writing?.thinking && <Thinking text={writing.thinking} name={`${row.id}/live`} live={writing.isThinking} />}
      {writing?.text && (
        <div className="py-2" data-writing>
          <GrowingMarkdown text={writing.text} />
        </div>
      )}
      {others.map((each) => (
        <AskCard key={each.askId} ask={each} />
      ))}
      <BatchBar asks={asks} />
      {session.hydration !== "done" && <Loading />}
      {isWorking && (
        <p role="status" className="flex items-center gap-2 py-2 text-sm text-faint">
          <span className="status-dot running" />
          {note ? inLanguage(note.text, note.retold) : writing?.text ? t("Writing …") : t("Working …")}
        </p>
      )}
      {row.waiting && <WaitingForHost row={row} />}
      <LastChanges session={session} />
      {row.status === "error" && row.error && items.at(-1)?.kind !== "result" && <p className="py-2 text-sm text-bad">{inLanguage(row.error, row.errorRetold)}</p>}
    </div>
  );
}

/** The session has something to do, and nobody does it. */
function WaitingForHost({ row }: { row: SessionRow }) {
  const goOn = () => {
    dispatch({ kind: "history-wanted", sessionId: row.id });
    requestWanted();
  };
  return (
    <p role="status" className="flex flex-wrap items-center gap-x-2 py-2 text-sm text-warn">
      <span className="status-dot waiting" />
      {t("Not running: {reason}", { reason: inLanguage(row.waiting ?? "", row.retold) })}
      <button type="button" className="underline underline-offset-2" onClick={goOn}>
        {t("Continue here")}
      </button>
    </p>
  );
}

function Loading() {
  return <p className="py-6 text-sm text-faint">{t("Loading …")}</p>;
}
