import { memo } from "react";
import { t } from "../language/t";
import type { DiffView } from "./diff_view";
import { type DiffRow, type SplitRow, splitRows } from "./line_diff";

const MARKS = { added: "+", removed: "−", same: " ", hunk: "", file: "" };
const COLOURS = { added: "bg-added", removed: "bg-removed", same: "text-faint", hunk: "pt-1 text-faint", file: "pt-2 font-semibold" };

/** The lines of a diff, one below the other or side by side; what is only added or only removed has one side. Long lines
 * are wrapped: nothing of a change stands where nobody looks. */
export const DiffLines = memo(function DiffLines({ rows, view, className = "" }: { rows: DiffRow[]; view: DiffView; className?: string }) {
  const isSplit = view === "split" && rows.some((each) => each.kind === "added") && rows.some((each) => each.kind === "removed");
  const hasNumbers = rows.some((each) => each.old || each.now);
  const shown = hasNumbers ? withGaps(rows) : rows;
  return (
    <div tabIndex={0} role="group" aria-label={t("Change")} data-view={isSplit ? "split" : "unified"} className={`code-block overflow-auto py-1.5 font-mono text-xs leading-relaxed ${className}`}>
      {isSplit ? (
        <div>
          {splitRows(shown).map((row, index) => (
            <Pair key={index} row={row} hasNumbers={hasNumbers} />
          ))}
        </div>
      ) : (
        <div>
          {shown.map((row, index) => (
            <div key={index} className={`flex px-3 ${COLOURS[row.kind]}`}>
              {hasNumbers && isLine(row) && <LineNumber n={row.now ?? row.old} />}
              {isLine(row) && <span className="w-4 shrink-0 text-faint select-none">{MARKS[row.kind]}</span>}
              <span className="min-w-0 whitespace-pre-wrap [overflow-wrap:anywhere]">{row.text || " "}</span>
            </div>
          ))}
        </div>
      )}
    </div>
  );
});

/** Where lines are numbered, a hunk begins with a gap, and not with its numbers. */
function withGaps(rows: DiffRow[]): DiffRow[] {
  return rows.flatMap((row, index): DiffRow[] => {
    if (row.kind !== "hunk") return [row];
    return index === 0 || rows[index - 1]!.kind === "file" ? [] : [{ kind: "hunk", text: "⋯" }];
  });
}

function Pair({ row, hasNumbers }: { row: SplitRow; hasNumbers: boolean }) {
  if (row.whole) return <div className={`px-3 whitespace-pre ${COLOURS[row.whole.kind]}`}>{row.whole.text || " "}</div>;
  return (
    <div className="grid grid-cols-2">
      <Side row={row.left} n={row.left?.old} hasNumbers={hasNumbers} />
      <Side row={row.right} n={row.right?.now} hasNumbers={hasNumbers} />
    </div>
  );
}

function Side({ row, n, hasNumbers }: { row?: DiffRow; n?: number; hasNumbers: boolean }) {
  return (
    <div className={`flex min-w-0 px-3 ${row ? COLOURS[row.kind] : ""}`}>
      {hasNumbers && <LineNumber n={n} />}
      <span className="min-w-0 whitespace-pre-wrap [overflow-wrap:anywhere]">{row ? row.text || " " : " "}</span>
    </div>
  );
}

function LineNumber({ n }: { n: number | undefined }) {
  return (
    <span aria-hidden="true" className="w-9 shrink-0 pr-2 text-right text-faint select-none">
      {n}
    </span>
  );
}

function isLine(row: DiffRow): boolean {
  return row.kind !== "file" && row.kind !== "hunk";
}
