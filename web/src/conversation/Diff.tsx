import { useMemo } from "react";
import { t } from "../language/t";
import { useKeptState } from "../parts/kept_state";
import { DiffLines } from "./DiffLines";
import { DiffSwitch, useDiffView } from "./diff_view";
import { type DiffRow, rowsOfDiff } from "./line_diff";

/** A change, line by line: the first `lines` of it, and the rest on demand. */
export function Diff({ diff, rows, lines, name }: { diff?: string; rows?: DiffRow[]; lines: number; name: string }) {
  const [isOpen, setOpen] = useKeptState(`${name}/diff`, false);
  const view = useDiffView();
  const all = useMemo(() => rows ?? rowsOfDiff(diff ?? ""), [rows, diff]);
  const count = (kind: DiffRow["kind"]) => all.filter((each) => each.kind === kind).length;
  return (
    <div>
      <DiffLines rows={isOpen ? all : all.slice(0, lines)} view={view} className={isOpen ? "max-h-[36rem]" : ""} />
      <p className="mt-0.5 flex gap-3 text-xs text-faint">
        <span>
          <span className="text-good">+{count("added")}</span> <span className="text-bad">−{count("removed")}</span>
        </span>
        {all.length > lines && (
          <button type="button" aria-expanded={isOpen} className="text-accent hover:underline" onClick={() => setOpen(!isOpen)}>
            {isOpen ? t("Show less") : t("Show {n} more lines", { n: all.length - lines })}
          </button>
        )}
        {count("removed") > 0 && <DiffSwitch />}
      </p>
    </div>
  );
}
