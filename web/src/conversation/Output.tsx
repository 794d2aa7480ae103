import { t } from "../language/t";
import { useKeptState } from "../parts/kept_state";

const SHOWN = 3;
const LIVE = 8;
const MOST_CHARS = 200_000;

/** The result of a tool: three lines, and the rest on demand. While it runs, the last lines. */
export function Output({ text, name, isError, live }: { text: string; name: string; isError?: boolean; live?: boolean }) {
  const [isOpen, setOpen] = useKeptState(`${name}/open`, false);
  const lines = text.trimEnd().split("\n");
  const hidden = live ? 0 : lines.length - SHOWN;
  const isLong = !live && rowsOf(lines.slice(0, SHOWN + 1)) > SHOWN;
  const shown = live ? lines.slice(-LIVE) : isOpen ? lines : lines.slice(0, SHOWN).map((each) => each.slice(0, 400));
  if (!text.trim()) return null;
  return (
    <div className="mt-1">
      <pre
        tabIndex={isOpen ? 0 : undefined} // it scrolls then
        role="group"
        aria-label={t("Result")}
        className={`font-mono text-xs leading-relaxed whitespace-pre-wrap break-words ${isOpen ? "max-h-[32rem] overflow-y-auto" : isLong ? "line-clamp-3" : ""} ${isError ? "text-soft" : "text-faint"}`}
      >
        {shown.join("\n").slice(0, MOST_CHARS)}
      </pre>
      {isLong && (
        <button type="button" aria-expanded={isOpen} className="mt-0.5 text-xs text-accent hover:underline" onClick={() => setOpen(!isOpen)}>
          {isOpen ? t("Show less") : hidden > 0 ? t("Show {n} more lines", { n: hidden }) : t("Show all")}
        </button>
      )}
    </div>
  );
}

/** How many lines these take on the screen, more or less. */
function rowsOf(lines: string[]): number {
  const columns = window.innerWidth < 640 ? 44 : 96;
  return lines.reduce((sum, each) => sum + Math.max(1, Math.ceil(each.length / columns)), 0);
}
