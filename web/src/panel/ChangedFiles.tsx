import type { FileChange } from "../contract/server_events";
import { t } from "../language/t";

/** Changed files, each with how much changed in it. */
export function ChangedFiles({ changes, onOpen }: { changes: FileChange[]; onOpen: (path: string) => void }) {
  return (
    <ul className="mt-1.5 space-y-px" aria-label={t("Changed files")}>
      {changes.map((each) => (
        <li key={each.path}>
          <button type="button" className="-mx-1.5 flex w-[calc(100%+0.75rem)] items-baseline gap-2 rounded-md px-1.5 py-0.5 text-left hover:bg-hover" title={each.path} onClick={() => onOpen(each.path)}>
            <span className="min-w-0 flex-1 truncate font-mono text-[13px]">
              {each.was && <span className="text-faint">{each.was} → </span>}
              {each.path}
            </span>
            <ChangeSize change={each} />
          </button>
        </li>
      ))}
    </ul>
  );
}

export function ChangeSize({ change }: { change: FileChange }) {
  return (
    <span className="shrink-0 text-xs text-faint">
      {change.kind === "deleted" && `${t("deleted")} `}
      {change.kind === "added" && `${t("new")} `}
      {change.binary ? (
        t("binary")
      ) : (
        <>
          <span className="text-good">+{change.added}</span> <span className="text-bad">−{change.deleted}</span>
        </>
      )}
    </span>
  );
}
