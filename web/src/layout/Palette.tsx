import { Command } from "cmdk";
import { useEffect, useState } from "react";
import { requestWanted, send } from "../connection/socket";
import type { ConfigurePayload } from "../contract/client_events";
import { t } from "../language/t";
import { Dialog } from "../parts/Dialog";
import { CheckIcon } from "../parts/icons";
import { modeChoices } from "../sessions/modes";
import { folderName } from "../sessions/session_state";
import { useRows, useShownSession } from "../sessions/shown_session";
import { dispatch, useSelected } from "../store";
import { useNotificationSwitch } from "./notifications";
import { useTheme } from "./theme";

/** Ctrl-K or ⌘K: go to a session, or do something. */
export function Palette() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      setOpen((before) => !before);
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, []);
  return isOpen ? <PaletteDialog onClose={() => setOpen(false)} /> : null;
}

function PaletteDialog({ onClose }: { onClose: () => void }) {
  const rows = useRows();
  const session = useSelected();
  const [, setTheme] = useTheme();
  const [isNotifying, toggleNotifications] = useNotificationSwitch();
  const go = (run: () => void) => () => {
    onClose();
    run();
  };
  return (
    <Dialog title={t("Commands")} className="palette" onClose={onClose}>
      <Command label={t("Commands")}>
        <Command.Input
          data-autofocus
          placeholder={t("Go to a session, or do something …")}
          className="w-full border-b border-line bg-transparent px-5 py-3.5 text-[0.95rem] outline-none"
        />
        <Command.List className="max-h-96 overflow-y-auto p-2">
          <Command.Empty className="px-3 py-6 text-center text-sm text-faint">{t("Nothing found")}</Command.Empty>
          <Command.Group heading={t("Actions")}>
            <Command.Item onSelect={go(() => dispatch({ kind: "new-session", open: true }))}>{t("New session")}</Command.Item>
            {session?.row.status === "running" && (
              <Command.Item onSelect={go(() => send({ type: "session.stop", payload: { sessionId: session.row.id } }))}>{t("Stop")}</Command.Item>
            )}
            <Command.Item onSelect={go(() => dispatch({ kind: "panel", panel: "files" }))}>{t("Files")}</Command.Item>
            <Command.Item onSelect={go(() => dispatch({ kind: "panel", panel: "changes" }))}>{t("Changes")}</Command.Item>
            <Command.Item onSelect={go(() => dispatch({ kind: "panel", panel: "usage" }))}>{t("Usage")}</Command.Item>
            {"Notification" in window && (
              <Command.Item onSelect={go(toggleNotifications)}>
                {isNotifying ? t("Switch notifications off") : t("Notify me when something waits for me")}
              </Command.Item>
            )}
            <Command.Item onSelect={go(() => setTheme("light"))}>{t("Light colours")}</Command.Item>
            <Command.Item onSelect={go(() => setTheme("dark"))}>{t("Dark colours")}</Command.Item>
            <Command.Item onSelect={go(() => setTheme("system"))}>{t("Colours of the system")}</Command.Item>
          </Command.Group>
          <Command.Group heading={t("Sessions")}>
            {rows.map((row) => (
              <Command.Item
                key={row.id}
                value={`${row.title} ${row.cwd} ${row.id}`}
                onSelect={go(() => {
                  dispatch({ kind: "selected", id: row.id });
                  requestWanted();
                })}
              >
                <Dot id={row.id} />
                <span className="truncate">{row.title || t("Untitled")}</span>
                <span className="ml-auto truncate text-xs text-faint">{folderName(row.cwd)}</span>
              </Command.Item>
            ))}
          </Command.Group>
          {session && (
            <Command.Group heading={t("Mode")}>
              {modeChoices().map(({ value, label, detail }) => (
                <Command.Item key={value} value={`${t("Mode")} ${label}`} onSelect={go(() => setMode(session.row.id, value))}>
                  <span className="shrink-0">{label}</span>
                  <span className="truncate text-xs text-faint">{detail}</span>
                  {value === session.row.mode && <CheckIcon />}
                </Command.Item>
              ))}
            </Command.Group>
          )}
        </Command.List>
      </Command>
    </Dialog>
  );
}

function setMode(sessionId: string, mode: string): void {
  send({ type: "session.configure", payload: { sessionId, mode: mode as ConfigurePayload["mode"] } });
}

function Dot({ id }: { id: string }) {
  return <span className={`status-dot ${useShownSession(id)?.dot ?? ""}`} />;
}
