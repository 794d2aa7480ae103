import { useCallback, useEffect, useState } from "react";
import { Composer } from "../composer/Composer";
import { useReturned } from "../composer/drafts";
import { Conversation } from "../conversation/Conversation";
import { t } from "../language/t";
import { NewSessionDialog } from "../sessions/NewSessionDialog";
import { Sidebar } from "../sessions/Sidebar";
import type { AskRequest } from "../contract/server_events";
import { SidePanel } from "../panel/SidePanel";
import { useWaiting } from "../sessions/shown_session";
import type { Session } from "../state/state";
import { dispatch, useSelected, useStore } from "../store";
import { ConnectionBar } from "./ConnectionBar";
import { showCount } from "./favicon";
import { Header } from "./Header";
import { Notices } from "./Notices";
import { useNotifications } from "./notifications";
import { Palette } from "./Palette";
import { SignedOut } from "./SignedOut";

export function App() {
  const connection = useStore((state) => state.connection);
  const panel = useStore((state) => state.panel);
  const isNewOpen = useStore((state) => state.isNewSessionOpen);
  const session = useSelected();
  const row = session?.row;
  const closeDrawer = useCallback(() => setDrawerOpen(false), []);
  const openDrawer = useCallback(() => setDrawerOpen(true), []);
  const [isDrawerOpen, setDrawerOpen] = useState(false);
  useAttention();
  useNotifications();
  useReturned();
  if (connection === "refused") return <SignedOut />;
  return (
    <div className="flex h-full">
      <Sidebar isOpen={isDrawerOpen} onClose={closeDrawer} />
      <main className="flex min-w-0 flex-1 flex-col">
        <ConnectionBar />
        <Header id={row?.id ?? null} onMenu={openDrawer} />
        {session ? (
          <>
            <Conversation key={`c${session.row.id}`} session={session} />
            <Composer key={`p${session.row.id}`} row={session.row} queue={session.queue} question={openQuestion(session)} />
          </>
        ) : (
          <Empty />
        )}
      </main>
      {session && panel && <SidePanel session={session} panel={panel} />}
      {isNewOpen && <NewSessionDialog />}
      <Palette />
      <Notices />
    </div>
  );
}

/** The one question of the session that a text would answer. */
function openQuestion({ asks }: Session): AskRequest | null {
  const [ask, ...others] = asks.filter((each) => each.kind === "question");
  const questions = ask?.input.questions;
  return ask && !others.length && Array.isArray(questions) && questions.length === 1 ? ask : null;
}

function Empty() {
  const hasList = useStore((state) => state.hasList);
  if (!hasList) return null;
  return (
    <div className="grid flex-1 place-items-center px-6 text-center">
      <div>
        <p className="mb-4 text-soft">{t("No session yet. Start one in a folder of yours.")}</p>
        <button type="button" className="button primary" onClick={() => dispatch({ kind: "new-session", open: true })}>
          {t("New session")}
        </button>
      </div>
    </div>
  );
}

/** The title and the icon of the tab say how many asks wait. */
function useAttention(): void {
  const waiting = useWaiting();
  const title = useStore((state) => (state.selected ? state.sessions[state.selected]?.row.title : undefined));
  useEffect(() => {
    document.title = [waiting ? `(${waiting})` : "", title || "coder", title ? "· coder" : ""].filter(Boolean).join(" ");
    showCount(waiting);
  }, [waiting, title]);
}
