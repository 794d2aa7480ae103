import { lazy, Suspense, useEffect, useRef } from "react";
import { t } from "../language/t";
import { CloseIcon } from "../parts/icons";
import type { Panel, Session } from "../state/state";
import { dispatch } from "../store";
import { ChangesTab } from "./ChangesTab";
import { FilesTab } from "./FilesTab";

const UsageTab = lazy(() => import("./UsageTab"));

/** Files, changes and use, beside the conversation; on a narrow screen above it. */
export function SidePanel({ session, panel }: { session: Session; panel: Panel }) {
  const aside = useRef<HTMLElement>(null);
  const close = () => dispatch({ kind: "panel", panel: null });
  useEffect(() => {
    if (window.matchMedia("(min-width: 1280px)").matches) return;
    const before = document.activeElement;
    aside.current?.querySelector<HTMLElement>("button")?.focus();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  const tabs: [Panel, string][] = [
    ["files", t("Files")],
    ["changes", t("Changes")],
    ["usage", t("Usage")],
  ];
  const isReading = panel === "files" && session.file !== null;
  return (
    <>
      <div className="fixed inset-0 z-20 bg-black/30 xl:hidden" onClick={close} />
      <aside
        ref={aside}
        aria-label={tabs.find(([name]) => name === panel)![1]}
        className={`fixed inset-y-0 right-0 z-20 flex w-full flex-col border-l border-line bg-page shadow-xl xl:static xl:shrink-0 xl:shadow-none ${isReading ? "sm:w-[36rem] xl:w-[min(42rem,38vw)]" : "sm:w-[26rem] xl:w-[24rem]"}`}
        onKeyDown={(event) => {
          if (event.key === "Escape" && !document.querySelector("dialog[open]")) close();
        }}
      >
        <div className="flex h-13 shrink-0 items-center gap-1 border-b border-line pr-2 pl-3">
          <div role="tablist" className="flex gap-1">
            {tabs.map(([name, label]) => (
              <button
                key={name}
                type="button"
                role="tab"
                aria-selected={name === panel}
                className={`rounded-md px-2 py-1 text-sm ${name === panel ? "bg-selected" : "text-soft hover:bg-hover"}`}
                onClick={() => dispatch({ kind: "panel", panel: name })}
              >
                {label}
              </button>
            ))}
          </div>
          <span className="flex-1" />
          <button type="button" className="icon-button" aria-label={t("Close")} onClick={close}>
            <CloseIcon />
          </button>
        </div>
        <div className="flex min-h-0 flex-1 flex-col">
          {panel === "files" && <FilesTab session={session} />}
          {panel === "changes" && <ChangesTab session={session} />}
          {panel === "usage" && (
            <Suspense fallback={null}>
              <UsageTab session={session} />
            </Suspense>
          )}
        </div>
      </aside>
    </>
  );
}
