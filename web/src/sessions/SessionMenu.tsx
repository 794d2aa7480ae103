import { memo, useState } from "react";
import { setDraft } from "../composer/drafts";
import { suggestTitle } from "../connection/api";
import { send } from "../connection/socket";
import { t } from "../language/t";
import { copy } from "../parts/CopyButton";
import { Dialog, DialogHeader } from "../parts/Dialog";
import { DotsIcon } from "../parts/icons";
import { Menu, MenuItem } from "../parts/Menu";
import type { SessionRow } from "../contract/server_events";
import { dispatch, useStore } from "../store";
import { FolderBrowser } from "./FolderBrowser";

/** What can be done with a session: rename, resume in a terminal, clear, delete. */
export const SessionMenu = memo(function SessionMenu({ row }: { row: SessionRow }) {
  const [open, setOpen] = useState<"rename" | "folder" | "delete" | null>(null);
  const resume = row.resume ?? { coder: `coder resume ${row.id}` };
  const problem = resume.problem && t("The agent has no session id yet");
  const close = () => setOpen(null);
  return (
    <>
      <Menu
        align="end"
        button={
          <button type="button" className="icon-button" aria-label={t("Session menu")} title={t("Session menu")}>
            <DotsIcon />
          </button>
        }
      >
        <MenuItem onSelect={() => setOpen("rename")}>{t("Rename …")}</MenuItem>
        <MenuItem onSelect={() => void copy(resume.coder)} title={resume.coder}>
          {t("Copy “coder resume”")}
        </MenuItem>
        {(resume.agent || resume.problem) && (
          <MenuItem
            disabled={!resume.agent}
            title={resume.agent ?? problem}
            onSelect={() => void copy(resume.agent ?? "")}
          >
            {t("Copy “claude --resume”")}
            {problem && <span className="text-xs text-faint">{problem}</span>}
          </MenuItem>
        )}
        <MenuItem onSelect={() => setOpen("folder")}>{t("Change the folder …")}</MenuItem>
        <MenuItem onSelect={() => send({ type: "session.clear", payload: { sessionId: row.id } })}>
          {t("Clear the history of the model")}
        </MenuItem>
        <MenuItem danger onSelect={() => setOpen("delete")}>
          {t("Delete …")}
        </MenuItem>
      </Menu>
      {open === "rename" && <RenameDialog row={row} onClose={close} />}
      {open === "folder" && <FolderDialog row={row} onClose={close} />}
      {open === "delete" && <DeleteDialog row={row} onClose={close} />}
    </>
  );
});

function RenameDialog({ row, onClose }: { row: SessionRow; onClose: () => void }) {
  const [title, setTitle] = useState(row.title);
  const [isAsking, setAsking] = useState(false);
  const first = useStore.getState().sessions[row.id]?.items.find((each) => each.kind === "prompt");
  const save = () => {
    if (!title.trim()) return;
    if (send({ type: "session.configure", payload: { sessionId: row.id, title: title.trim() } })) onClose();
  };
  const suggest = async () => {
    setAsking(true);
    try {
      setTitle(await suggestTitle(first?.kind === "prompt" ? first.text : row.title, row.cwd));
    } catch (error) {
      dispatch({ kind: "told", text: error instanceof Error ? error.message : String(error) });
    }
    setAsking(false);
  };
  return (
    <Dialog title={t("Rename the session")} onClose={onClose}>
      <DialogHeader title={t("Rename the session")} onClose={onClose} />
      <form
        className="space-y-4 px-5 pt-2 pb-5"
        onSubmit={(event) => {
          event.preventDefault();
          save();
        }}
      >
        <input className="field" data-autofocus value={title} aria-label={t("Title")} onChange={(event) => setTitle(event.target.value)} />
        <div className="flex justify-end gap-2">
          <button type="button" className="button plain mr-auto" disabled={isAsking || !first} onClick={() => void suggest()}>
            {isAsking ? t("Asking the model …") : t("Suggest a title")}
          </button>
          <button type="button" className="button" onClick={onClose}>
            {t("Cancel")}
          </button>
          <button type="submit" className="button primary" disabled={!title.trim()}>
            {t("Rename")}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** Another folder, from the next turn on. */
function FolderDialog({ row, onClose }: { row: SessionRow; onClose: () => void }) {
  const choose = (path: string | null) => {
    if (path === null || send({ type: "session.configure", payload: { sessionId: row.id, cwd: path } })) onClose();
  };
  return (
    <Dialog title={t("Change the folder")} onClose={onClose}>
      <DialogHeader title={t("Change the folder")} onClose={onClose} />
      <div className="px-5 pt-1 pb-5">
        <p className="text-sm text-soft">{t("The session works there from its next turn on.")}</p>
        <FolderBrowser start={row.cwd ?? ""} onChoose={choose} />
      </div>
    </Dialog>
  );
}

function DeleteDialog({ row, onClose }: { row: SessionRow; onClose: () => void }) {
  const remove = () => {
    if (!send({ type: "session.delete", payload: { sessionId: row.id } })) return;
    dispatch({ kind: "deleting", sessionId: row.id });
    setDraft(row.id, "");
    onClose();
  };
  return (
    <Dialog title={t("Delete the session?")} onClose={onClose}>
      <DialogHeader title={t("Delete the session?")} onClose={onClose} />
      <div className="space-y-4 px-5 pt-2 pb-5">
        <p className="text-sm text-soft">
          {t("“{title}” and its history are deleted for everybody. Files in its folder stay as they are.", {
            title: row.title || t("Untitled"),
          })}
        </p>
        <div className="flex justify-end gap-2">
          <button type="button" className="button" data-autofocus onClick={onClose}>
            {t("Cancel")}
          </button>
          <button type="button" className="button danger" onClick={remove}>
            {t("Delete")}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
