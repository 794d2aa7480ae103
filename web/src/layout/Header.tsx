import { SessionMenu } from "../sessions/SessionMenu";
import { sessionState } from "../sessions/session_state";
import { t } from "../language/t";
import { MenuIcon } from "../parts/icons";
import { openAsks, type Session } from "../state/state";
import { useStore } from "../store";

export function Header({ session, onMenu }: { session: Session | null; onMenu: () => void }) {
  const waiting = useStore((state) => Object.values(state.sessions).reduce((sum, each) => sum + openAsks(each), 0));
  const state = session && sessionState(session);
  return (
    <header className="flex h-13 shrink-0 items-center gap-2 border-b border-line px-3 md:px-5">
      <button type="button" className="icon-button relative md:hidden" aria-label={t("Sessions")} onClick={onMenu}>
        <MenuIcon />
        {waiting > 0 && <span className="absolute top-0.5 right-0.5 size-2 rounded-full bg-warn" />}
      </button>
      {session && state && (
        <>
          <div className="min-w-0 flex-1">
            <h1 className="truncate text-[0.95rem] leading-tight font-semibold">{session.row.title || t("Untitled")}</h1>
            <p className="flex items-center gap-1.5 truncate text-xs leading-tight text-faint">
              <span className={`status-dot ${state.dot}`} />
              <span className="shrink-0">{state.label}</span>
              <span aria-hidden="true">·</span>
              <span className="truncate" title={session.row.cwd}>
                {session.row.cwd}
              </span>
            </p>
          </div>
          <SessionMenu session={session} />
        </>
      )}
    </header>
  );
}
