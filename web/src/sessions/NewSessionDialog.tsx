import { useEffect, useState } from "react";
import { flushSync } from "react-dom";
import { type Choices, choices, recentFolders } from "../connection/api";
import { send } from "../connection/socket";
import { type StartPayload } from "../contract/client_events";
import { t } from "../language/t";
import { Dialog, DialogHeader } from "../parts/Dialog";
import { dispatch, useStore } from "../store";
import { FolderBrowser } from "./FolderBrowser";
import { modeChoices } from "./modes";
import { nameWhenStarted } from "./name_session";
import { folderName } from "./session_state";

const KEPT = "new-session";

/** Folder, prompt, and who works on it. What was typed is kept until the session has started. */
export function NewSessionDialog() {
  const starting = useStore((state) => state.starting);
  const problem = useStore((state) => state.startProblem);
  const connection = useStore((state) => state.connection);
  const [cwd, setCwd] = useState(() => sessionStorage.getItem(`${KEPT}-cwd`) ?? "");
  const [prompt, setPrompt] = useState(() => sessionStorage.getItem(`${KEPT}-prompt`) ?? "");
  const [recent, setRecent] = useState<string[]>([]);
  const [isBrowsing, setBrowsing] = useState(false);
  const [more, setMore] = useState<Pick<StartPayload, "agent" | "model" | "mode">>({});
  const found = useChoices(cwd);
  const close = () => dispatch({ kind: "new-session", open: false });
  useEffect(
    () =>
      useStore.subscribe((now, before) => {
        const isAccepted = before.starting && !now.starting && !now.isNewSessionOpen;
        if (isAccepted) sessionStorage.removeItem(`${KEPT}-prompt`);
      }),
    [],
  );

  useEffect(() => {
    Promise.all([recentFolders(), choices("")]).then(
      ([cwds, here]) => {
        setRecent(cwds);
        const isTyping = document.activeElement?.id === "new-cwd"; // whoever is there already says where
        // At once: drawn a moment later, it would undo the selection of somebody who has come to the field by then.
        if (!isTyping) flushSync(() => setCwd((before) => before || cwds[0] || here.cwd));
      },
      () => undefined, // there is nothing to choose from; a folder can be typed
    );
  }, []);
  useEffect(() => sessionStorage.setItem(`${KEPT}-cwd`, cwd), [cwd]);
  useEffect(() => sessionStorage.setItem(`${KEPT}-prompt`, prompt), [prompt]);

  const isReady = !!cwd.trim() && !!prompt.trim() && !starting && connection === "open";
  const start = () => {
    if (!isReady) return;
    const requestId = crypto.randomUUID();
    const payload = { title: "", prompt, cwd: cwd.trim(), requestId, ...more };
    if (!send({ type: "session.start", payload })) return;
    dispatch({ kind: "starting", requestId });
    nameWhenStarted(requestId, prompt, payload.cwd);
  };
  return (
    <Dialog title={t("New session")} onClose={close}>
      <DialogHeader title={t("New session")} onClose={close} />
      <form
        className="space-y-4 px-5 pt-2 pb-5"
        onSubmit={(event) => {
          event.preventDefault();
          start();
        }}
      >
        <div>
          <label className="mb-1 block text-sm text-soft" htmlFor="new-prompt">
            {t("What should be done?")}
          </label>
          <textarea
            id="new-prompt"
            data-autofocus
            rows={4}
            className="field field-sizing-content max-h-60 min-h-24 resize-none"
            value={prompt}
            onChange={(event) => setPrompt(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) start();
            }}
          />
        </div>
        <div>
          <label className="mb-1 block text-sm text-soft" htmlFor="new-cwd">
            {t("Folder")}
          </label>
          <div className="flex gap-2">
            <input
              id="new-cwd"
              className="field font-mono text-[13px]"
              value={cwd}
              spellCheck={false}
              placeholder="/home/you/project"
              onChange={(event) => setCwd(event.target.value)}
            />
            <button type="button" className="button" aria-expanded={isBrowsing} onClick={() => setBrowsing(!isBrowsing)}>
              {t("Browse")}
            </button>
          </div>
          {isBrowsing && (
            <FolderBrowser
              start={cwd}
              onChoose={(path) => {
                if (path !== null) setCwd(path);
                setBrowsing(false);
              }}
            />
          )}
          {!isBrowsing && recent.length > 0 && (
            <div className="mt-2 flex flex-wrap gap-x-3 gap-y-1 text-xs" aria-label={t("Recent folders")} role="group">
              <span className="text-faint">{t("Recent")}</span>
              {recent.slice(0, 5).map((each) => (
                <button key={each} type="button" title={each} className="text-accent hover:underline" onClick={() => setCwd(each)}>
                  {folderName(each)}
                </button>
              ))}
            </div>
          )}
        </div>
        <Settings found={found} chosen={more} onChange={setMore} />
        {problem && (
          <p role="alert" className="text-sm whitespace-pre-line text-bad">
            {problem}
          </p>
        )}
        <div className="flex items-center justify-end gap-2">
          <button type="button" className="button" onClick={close}>
            {t("Cancel")}
          </button>
          <button type="submit" className="button primary" disabled={!isReady}>
            {starting ? t("Starting …") : t("Start")}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

type Chosen = Pick<StartPayload, "agent" | "model" | "mode">;

function Settings({ found, chosen, onChange }: { found: Choices | null; chosen: Chosen; onChange: (chosen: Chosen) => void }) {
  const byDefault = found?.defaults;
  const option = (value: string, detail = "") => (
    <option key={value} value={value}>
      {detail ? `${value} (${detail})` : value}
    </option>
  );
  const names = [...new Set(found?.models.map((each) => each.name) ?? [])].filter((each) => each !== byDefault?.model);
  return (
    <div className="grid grid-cols-1 gap-3 sm:grid-cols-3">
      <label className="text-sm text-soft">
        {t("Agent")}
        <select
          aria-label={t("Agent")}
          className="field mt-1"
          value={chosen.agent ?? ""}
          onChange={(event) => onChange({ ...chosen, agent: event.target.value || null })}
        >
          <option value="">{byDefault?.agent || t("as configured")}</option>
          {found?.agents.filter((each) => each.name !== byDefault?.agent && !each.problem).map((each) => option(each.name))}
        </select>
      </label>
      <label className="text-sm text-soft">
        {t("Model")}
        <select
          aria-label={t("Model")}
          className="field mt-1"
          value={chosen.model ?? ""}
          onChange={(event) => onChange({ ...chosen, model: event.target.value || null })}
        >
          <option value="">{byDefault?.model || t("as configured")}</option>
          {names.map((each) => option(each))}
        </select>
      </label>
      <label className="text-sm text-soft">
        {t("Mode")}
        <select
          aria-label={t("Mode")}
          className="field mt-1"
          value={chosen.mode ?? byDefault?.mode ?? ""}
          onChange={(event) => onChange({ ...chosen, mode: (event.target.value || null) as Chosen["mode"] })}
        >
          {!byDefault && <option value="">{t("as configured")}</option>}
          {modeChoices().map((each) => (
            <option key={each.value} value={each.value}>
              {each.label}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

/** What there is to choose from in a folder, or null while that is not known. */
function useChoices(cwd: string): Choices | null {
  const [found, setFound] = useState<Choices | null>(null);
  useEffect(() => {
    let isOld = false;
    const timer = window.setTimeout(() => {
      choices(cwd.trim()).then(
        (next) => !isOld && setFound(next),
        () => undefined, // not a folder (yet)
      );
    }, 300);
    return () => {
      isOld = true;
      window.clearTimeout(timer);
    };
  }, [cwd]);
  return found;
}
