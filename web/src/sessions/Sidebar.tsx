import { memo, useCallback, useEffect, useRef, useState } from "react";
import { requestWanted } from "../connection/socket";
import { LANGUAGE, t } from "../language/t";
import { useTheme } from "../layout/theme";
import { CloseIcon, MoonIcon, PlusIcon, ScreenIcon, SearchIcon, SunIcon } from "../parts/icons";
import type { SessionRow } from "../contract/server_events";
import { dispatch, useStore } from "../store";
import { Inbox } from "./Inbox";
import { SessionMenu } from "./SessionMenu";
import { useMinute } from "./minute";
import { ago, folderName } from "./session_state";
import { useRows, useShownSession } from "./shown_session";

/** The list of sessions. On a narrow screen it is a drawer. */
export function Sidebar({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    const before = document.activeElement;
    panel.current?.querySelector<HTMLElement>("button")?.focus();
    const press = (event: KeyboardEvent) => event.key === "Escape" && onClose();
    window.addEventListener("keydown", press);
    return () => {
      window.removeEventListener("keydown", press);
      if (before instanceof HTMLElement) before.focus();
    };
  }, [isOpen, onClose]);
  return (
    <>
      {isOpen && <div className="fixed inset-0 z-20 bg-black/30 md:hidden" onClick={onClose} />}
      <aside
        ref={panel}
        aria-label={t("Sessions")}
        className={`${isOpen ? "fixed inset-y-0 left-0 z-20 flex w-[min(20rem,86vw)] shadow-xl" : "hidden"} flex-col border-r border-line bg-panel md:static md:flex md:w-72 md:shrink-0 md:shadow-none`}
      >
        <SidebarContent onClose={onClose} />
      </aside>
    </>
  );
}

function SidebarContent({ onClose }: { onClose: () => void }) {
  const rows = useRows();
  const selected = useStore((state) => state.selected);
  const hasList = useStore((state) => state.hasList);
  const [search, setSearch] = useState("");
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = rows.filter((each) => matches(each, words));
  const choose = useCallback(
    (id: string) => {
      dispatch({ kind: "selected", id });
      requestWanted();
      onClose();
    },
    [onClose],
  );
  return (
    <>
      <div className="flex h-13 shrink-0 items-center justify-between pr-2 pl-4">
        <span className="font-semibold tracking-tight">coder</span>
        <span className="flex">
          <ThemeButton />
          <button
            type="button"
            className="icon-button"
            aria-label={t("New session")}
            title={t("New session")}
            onClick={() => {
              dispatch({ kind: "new-session", open: true });
              onClose();
            }}
          >
            <PlusIcon />
          </button>
          <button type="button" className="icon-button md:hidden" aria-label={t("Close")} onClick={onClose}>
            <CloseIcon />
          </button>
        </span>
      </div>
      <label className="relative mx-3 mb-2 block text-faint">
        <span className="absolute top-1/2 left-2.5 -translate-y-1/2">
          <SearchIcon size={14} />
        </span>
        <input
          type="search"
          value={search}
          placeholder={t("Search sessions")}
          aria-label={t("Search sessions")}
          className="w-full rounded-lg bg-hover py-1.5 pr-2 pl-8 text-sm text-ink"
          onChange={(event) => setSearch(event.target.value)}
        />
      </label>
      <nav className="min-h-0 flex-1 overflow-y-auto px-2 pb-3" aria-label={t("Sessions")}>
        <Inbox onChoose={choose} />
        <ul>
          {found.map((each) => (
            <SessionLine key={each.id} id={each.id} isSelected={each.id === selected} onChoose={choose} />
          ))}
        </ul>
        {hasList && !found.length && (
          <p className="px-3 py-6 text-center text-sm text-faint">{search ? t("Nothing found") : t("No sessions")}</p>
        )}
      </nav>
    </>
  );
}

const SessionLine = memo(function SessionLine(props: { id: string; isSelected: boolean; onChoose: (id: string) => void }) {
  const shown = useShownSession(props.id);
  useMinute();
  const [isNear, setNear] = useState(false); // the menu is made when it may be wanted
  if (!shown) return null;
  const { row, dot, label } = shown;
  return (
    <li className="group relative" onPointerEnter={() => setNear(true)} onFocus={() => setNear(true)}>
      <button
        type="button"
        aria-current={props.isSelected ? "page" : undefined}
        className={`flex w-full items-start gap-2.5 rounded-lg py-1.5 pr-8 pl-2.5 text-left ${props.isSelected ? "bg-selected" : "hover:bg-hover"}`}
        onClick={() => props.onChoose(row.id)}
      >
        <span className={`status-dot mt-[0.45rem] ${dot}`} title={label} />
        <span className="min-w-0 flex-1">
          <span className="block truncate text-sm leading-snug">{row.title || t("Untitled")}</span>
          <span className="block truncate text-xs text-faint">
            <span className="sr-only">{label}. </span>
            {[folderName(row.cwd), ago(row.updatedAt)].filter(Boolean).join(" · ")}
          </span>
        </span>
      </button>
      <span className="absolute top-2 right-1.5 opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 has-data-[state=open]:opacity-100">
        {isNear && <SessionMenu row={row} />}
      </span>
    </li>
  );
});

function matches(row: SessionRow, words: string[]): boolean {
  const text = `${row.title} ${row.cwd ?? ""} ${row.id}`.toLocaleLowerCase(LANGUAGE);
  return words.every((each) => text.includes(each));
}

const NEXT = { system: "light", light: "dark", dark: "system" } as const;

function ThemeButton() {
  const [theme, setTheme] = useTheme();
  const label = { system: t("Colours of the system"), light: t("Light colours"), dark: t("Dark colours") }[theme];
  const Icon = { system: ScreenIcon, light: SunIcon, dark: MoonIcon }[theme];
  return (
    <button type="button" className="icon-button" aria-label={label} title={label} onClick={() => setTheme(NEXT[theme])}>
      <Icon />
    </button>
  );
}
