import { useCallback, useEffect, useState } from "react";
import { Composer } from "../composer/Composer";
import { Conversation } from "../conversation/Conversation";
import { t } from "../language/t";
import { NewSessionDialog } from "../sessions/NewSessionDialog";
import { Sidebar } from "../sessions/Sidebar";
import { openAsks } from "../state/state";
import { dispatch, useSelected, useStore } from "../store";
import { ConnectionBar } from "./ConnectionBar";
import { Header } from "./Header";
import { Notices } from "./Notices";
import { useNotifications } from "./notifications";
import { Palette } from "./Palette";
import { SignedOut } from "./SignedOut";

export function App() {
  const connection = useStore((state) => state.connection);
  const isNewOpen = useStore((state) => state.isNewSessionOpen);
  const session = useSelected();
  const row = session?.row;
  const closeDrawer = useCallback(() => setDrawerOpen(false), []);
  const openDrawer = useCallback(() => setDrawerOpen(true), []);
  const [isDrawerOpen, setDrawerOpen] = useState(false);
  useAttention();
  useNotifications();
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
            <Composer key={`p${session.row.id}`} row={session.row} queue={session.queue} />
          </>
        ) : (
          <Empty />
        )}
      </main>
      {isNewOpen && <NewSessionDialog />}
      <Palette />
      <Notices />
    </div>
  );
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
  const waiting = useStore((state) => Object.values(state.sessions).reduce((sum, each) => sum + openAsks(each), 0));
  const title = useStore((state) => (state.selected ? state.sessions[state.selected]?.row.title : undefined));
  useEffect(() => {
    document.title = [waiting ? `(${waiting})` : "", title || "coder", title ? "· coder" : ""].filter(Boolean).join(" ");
    document.querySelector<HTMLLinkElement>("link[rel=icon]")!.href = waiting ? "/icon-waiting.svg" : "/icon.svg";
  }, [waiting, title]);
}
