import { type ReactNode, useEffect, useRef } from "react";
import { t } from "../language/t";
import { CloseIcon } from "./icons";

/** A modal dialog. The browser keeps the focus in it, and Escape closes it. */
export function Dialog(props: { title: string; onClose: () => void; className?: string; children: ReactNode }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const shown = dialog.current!;
    if (!shown.open) shown.showModal();
    shown.querySelector<HTMLElement>("[data-autofocus]")?.focus(); // showModal takes the first button
    return () => shown.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-label={props.title}
      className={props.className}
      onCancel={(event) => {
        event.preventDefault();
        props.onClose();
      }}
      onPointerDown={(event) => {
        if (event.target === dialog.current) props.onClose();
      }}
    >
      {props.children}
    </dialog>
  );
}

export function DialogHeader({ title, onClose }: { title: string; onClose: () => void }) {
  return (
    <div className="flex shrink-0 items-center justify-between gap-3 px-5 pt-4 pb-1">
      <h2 className="min-w-0 truncate text-base font-semibold" title={title}>
        {title}
      </h2>
      <button type="button" className="icon-button" aria-label={t("Close")} onClick={onClose}>
        <CloseIcon />
      </button>
    </div>
  );
}
