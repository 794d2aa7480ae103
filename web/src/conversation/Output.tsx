import { useState } from "react";
import { t } from "../language/t";
import { Markdown } from "../markdown/Markdown";

const SHOWN = 3;
const LIVE = 8;
const MOST_CHARS = 200_000;

/** The result of a tool: three lines, and the rest on demand. While it runs, the last lines. */
export function Output({ text, isError, live, markdown }: { text: string; isError?: boolean; live?: boolean; markdown?: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const lines = text.replace(/\s+$/, "").split("\n");
  const hidden = live ? 0 : lines.length - SHOWN;
  const isLong = hidden > 0 || (!live && lines.some((each) => each.length > 400));
  const shown = live ? lines.slice(-LIVE) : isOpen ? lines : lines.slice(0, SHOWN).map((each) => each.slice(0, 400));
  if (!text.trim()) return null;
  return (
    <div className="mt-1">
      {markdown && isOpen ? (
        <Markdown text={text} />
      ) : (
        <pre
          tabIndex={0}
          aria-label={t("Result")}
          className={`overflow-x-auto font-mono text-xs leading-relaxed whitespace-pre-wrap break-words ${isOpen ? "max-h-[32rem] overflow-y-auto" : ""} ${isError ? "text-soft" : "text-faint"}`}
        >
          {shown.join("\n").slice(0, MOST_CHARS)}
        </pre>
      )}
      {isLong && (
        <button type="button" aria-expanded={isOpen} className="mt-0.5 text-xs text-accent hover:underline" onClick={() => setOpen(!isOpen)}>
          {isOpen ? t("Show less") : hidden > 0 ? t("Show {n} more lines", { n: hidden }) : t("Show all")}
        </button>
      )}
    </div>
  );
}
