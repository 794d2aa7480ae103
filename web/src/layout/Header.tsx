import { memo } from "react";
import { SessionMenu } from "../sessions/SessionMenu";
import { useShownSession, useWaiting } from "../sessions/shown_session";
import { t } from "../language/t";
import { ChangesIcon, FolderIcon, MenuIcon, UsageIcon } from "../parts/icons";
import type { Panel } from "../state/state";
import { dispatch, useStore } from "../store";

export const Header = memo(function Header({ id, onMenu }: { id: string | null; onMenu: () => void }) {
  const waiting = useWaiting();
  const shown = useShownSession(id);
  return (
    <header className="flex h-13 shrink-0 items-center gap-2 border-b border-line px-3 md:px-5">
      <button type="button" className="icon-button relative md:hidden" aria-label={t("Sessions")} onClick={onMenu}>
        <MenuIcon />
        {waiting > 0 && <span className="absolute top-[18%] right-[18%] size-2 rounded-full bg-warn" />}
      </button>
      {shown && (
        <>
          <div className="min-w-0 flex-1">
            <h1 className="truncate text-[0.95rem] leading-tight font-semibold">{shown.row.title || t("Untitled")}</h1>
            <p className="flex items-center gap-1.5 truncate text-xs leading-tight text-faint">
              <span className={`status-dot ${shown.dot}`} />
              <span className="shrink-0">{shown.label}</span>
              <span aria-hidden="true">·</span>
              <span className="truncate" title={shown.row.cwd}>
                {shown.row.cwd}
              </span>
            </p>
          </div>
          <PanelButtons />
          <SessionMenu row={shown.row} />
        </>
      )}
    </header>
  );
});

function PanelButtons() {
  const panel = useStore((state) => state.panel);
  const button = (name: Panel, label: string, Icon: typeof FolderIcon, className = "") => (
    <button
      type="button"
      className={`icon-button ${panel === name ? "bg-selected text-ink" : ""} ${className}`}
      aria-label={label}
      aria-pressed={panel === name}
      title={label}
      onClick={() => dispatch({ kind: "panel", panel: panel === name ? null : name })}
    >
      <Icon />
    </button>
  );
  return (
    <span className="flex gap-0.5">
      {button("files", t("Files"), FolderIcon)}
      {button("changes", t("Changes"), ChangesIcon, "max-sm:hidden")}
      {button("usage", t("Usage"), UsageIcon, "max-sm:hidden")}
    </span>
  );
}
