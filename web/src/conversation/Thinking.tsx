import { useState } from "react";
import { t } from "../language/t";
import { GrowingMarkdown, Markdown } from "../markdown/Markdown";
import { ChevronIcon } from "../parts/icons";

/** What the model thought, folded. */
export function Thinking({ text, live }: { text: string; live?: boolean }) {
  const [isOpen, setOpen] = useState(false);
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
