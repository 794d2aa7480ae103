import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import type { FileText } from "../contract/server_events";
import { attachSelection, MOST_SELECTED } from "../composer/context";
import { t } from "../language/t";
import { highlightedLines } from "../markdown/highlighted_lines";
import { loadHighlight } from "../markdown/highlight";
import { languageOfPath } from "../markdown/language_of_path";
import { ChevronIcon } from "../parts/icons";
import { dispatch } from "../store";

/** A file, with line numbers. What is selected in it can go with the next message. */
export function FileViewer({ sessionId, file }: { sessionId: string; file: FileText }) {
  const code = useRef<HTMLDivElement>(null);
  const [selected, setSelected] = useState<{ start: number; end: number; text: string } | null>(null);
  const lines = useMemo(() => file.text.replace(/\n$/, "").split("\n"), [file.text]);
  const coloured = useColoured(file);
  useEffect(() => {
    const changed = () => setSelected(selectionWithin(code.current));
    document.addEventListener("selectionchange", changed);
    return () => document.removeEventListener("selectionchange", changed);
  }, []);
  const attach = (start: number, end: number, text: string) => {
    attachSelection(sessionId, { filePath: file.path, fileName: file.path.split("/").pop() ?? "", text, lineStart: start, lineEnd: end });
    window.getSelection()?.removeAllRanges();
  };
  const attachWhole = () => {
    const text = file.text.slice(0, MOST_SELECTED);
    attach(1, text.replace(/\n$/, "").split("\n").length, text);
  };
  return (
    <>
      <div className="flex shrink-0 items-center gap-2 px-3 py-2 text-sm">
        <button type="button" className="icon-button rotate-180" aria-label={t("Back to the files")} onClick={() => dispatch({ kind: "file-closed", sessionId })}>
          <ChevronIcon />
        </button>
        <span className="min-w-0 flex-1 truncate font-mono text-[13px]" title={file.path}>
          {file.path}
        </span>
        {!file.binary && (
          <button
            type="button"
            className="button h-7 px-2 text-xs"
            onMouseDown={(event) => event.preventDefault()} // the selection stays
            onClick={() => (selected ? attach(selected.start, selected.end, selected.text) : attachWhole())}
          >
            {selected ? t("Add lines {start}–{end} to the message", selected) : t("Add to the message")}
          </button>
        )}
      </div>
      {file.binary ? (
        <p className="px-4 py-6 text-sm text-faint">{t("Not a text file ({size} bytes)", { size: file.size.toLocaleString() })}</p>
      ) : (
        <div ref={code} tabIndex={0} role="group" aria-label={file.path} className="min-h-0 flex-1 overflow-auto bg-panel py-2 font-mono text-[13px] leading-[1.55]">
          <div className="min-w-max pr-4">
            {starts(lines.length).map((start) => (
              <Lines key={start} first={start} lines={lines.slice(start, start + TOGETHER)} coloured={coloured?.slice(start, start + TOGETHER)} />
            ))}
          </div>
          {!file.whole && <p className="px-4 py-2 font-sans text-xs text-faint">{t("The rest of the file is not shown.")}</p>}
        </div>
      )}
    </>
  );
}

const TOGETHER = 100;
const LINE = 13 * 1.55;

function starts(count: number): number[] {
  return Array.from({ length: Math.ceil(count / TOGETHER) }, (_, index) => index * TOGETHER);
}

/** Some lines of a file. The browser lays them out when they come into sight. */
function Lines({ first, lines, coloured }: { first: number; lines: string[]; coloured: ReactNode[] | undefined }) {
  return (
    <div style={{ contentVisibility: "auto", containIntrinsicHeight: `auto ${lines.length * LINE}px` }}>
      {lines.map((line, index) => (
        <div key={index} data-line={first + index + 1} className="flex">
          <span className="w-12 shrink-0 pr-3 text-right text-faint select-none" aria-hidden="true">
            {first + index + 1}
          </span>
          <span className="whitespace-pre">{coloured?.[index] ?? (line || " ")}</span>
        </div>
      ))}
    </div>
  );
}

function useColoured(file: FileText) {
  const [lines, setLines] = useState<ReturnType<typeof highlightedLines> | null>(null);
  useEffect(() => {
    const language = languageOfPath(file.path);
    if (!language) return;
    let isGone = false;
    void loadHighlight().then((highlight) => {
      const tree = highlight(language, file.text);
      if (tree && !isGone) setLines(highlightedLines(tree));
    });
    return () => {
      isGone = true;
    };
  }, [file]);
  return lines;
}

/** The lines of the viewer that are selected, and their text; null if none are. */
function selectionWithin(viewer: HTMLElement | null): { start: number; end: number; text: string } | null {
  const selection = window.getSelection();
  if (!viewer || !selection || selection.isCollapsed || !selection.rangeCount) return null;
  const range = selection.getRangeAt(0);
  const start = lineAt(range.startContainer, viewer);
  const end = lineAt(range.endContainer, viewer);
  const text = selection.toString();
  return start && end && text.trim() ? { start, end, text } : null;
}

function lineAt(node: Node, viewer: HTMLElement): number {
  const element = node instanceof HTMLElement ? node : node.parentElement;
  const line = element?.closest<HTMLElement>("[data-line]");
  return line && viewer.contains(line) ? Number(line.dataset.line) : 0;
}
