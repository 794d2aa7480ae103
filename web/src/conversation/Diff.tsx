import { useMemo, useState } from "react";
import { t } from "../language/t";
import { type DiffRow, rowsOfDiff } from "./line_diff";

const MARKS = { added: "+", removed: "−", same: " ", hunk: "", file: "" };
const COLOURS = { added: "bg-added", removed: "bg-removed", same: "text-faint", hunk: "pt-1 text-faint", file: "pt-2 font-semibold" };

/** A change, line by line: the first `lines` of it, and the rest on demand. */
export function Diff({ diff, rows, lines }: { diff?: string; rows?: DiffRow[]; lines: number }) {
  const [isOpen, setOpen] = useState(false);
  const all = useMemo(() => rows ?? rowsOfDiff(diff ?? ""), [rows, diff]);
  const shown = isOpen ? all : all.slice(0, lines);
  const count = (kind: DiffRow["kind"]) => all.filter((each) => each.kind === kind).length;
  return (
    <div>
      <div tabIndex={0} role="group" aria-label={t("Change")} className={`code-block overflow-auto py-1.5 font-mono text-xs leading-relaxed ${isOpen ? "max-h-[36rem]" : ""}`}>
        <div className="min-w-max">
          {shown.map((row, index) => (
            <div key={index} className={`flex px-3 whitespace-pre ${COLOURS[row.kind]}`}>
              {row.kind !== "file" && row.kind !== "hunk" && <span className="w-4 shrink-0 text-faint select-none">{MARKS[row.kind]}</span>}
              <span>{row.text || " "}</span>
            </div>
          ))}
        </div>
      </div>
      <p className="mt-0.5 flex gap-3 text-xs text-faint">
        <span>
          <span className="text-good">+{count("added")}</span> <span className="text-bad">−{count("removed")}</span>
        </span>
        {all.length > lines && (
          <button type="button" aria-expanded={isOpen} className="text-accent hover:underline" onClick={() => setOpen(!isOpen)}>
            {isOpen ? t("Show less") : t("Show {n} more lines", { n: all.length - lines })}
          </button>
        )}
      </p>
    </div>
  );
}
