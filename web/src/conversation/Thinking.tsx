import { t } from "../language/t";
import { GrowingMarkdown, Markdown } from "../markdown/Markdown";
import { ChevronIcon } from "../parts/icons";
import { useKeptState } from "../parts/kept_state";

/** What the model thought, folded. */
export function Thinking({ text, name, live }: { text: string; name: string; live?: boolean }) {
  const [isOpen, setOpen] = useKeptState(`${name}/open`, false);
  return (
    <div className="py-1 text-sm">
      <button type="button" aria-expanded={isOpen} className="flex items-center gap-1 text-faint hover:text-soft" onClick={() => setOpen(!isOpen)}>
        <span className={isOpen ? "rotate-90" : ""}>
          <ChevronIcon size={12} />
        </span>
        {live ? t("Thinking …") : t("Thought")}
      </button>
      {isOpen && (
        <div className="mt-1 border-l-2 border-line pl-3.5 text-soft">
          {live ? <GrowingMarkdown text={text} /> : <Markdown text={text} />}
        </div>
      )}
    </div>
  );
}
