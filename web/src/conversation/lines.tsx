import { askResolutionText } from "./resolution_text";
import { inLanguage, t } from "../language/t";
import { Markdown } from "../markdown/Markdown";
import { modeLabel } from "../sessions/modes";
import type { Item } from "../state/items";
import type { Resolution } from "../contract/server_events";
import { duration } from "./duration";
import { Diff } from "./Diff";
import { ChevronIcon } from "../parts/icons";
import { useKeptState } from "../parts/kept_state";

type Of<K extends Item["kind"]> = Extract<Item, { kind: K }>;

/** What a turn runs with: agent, model, mode, folder; the id on demand. */
export function InitLine({ item }: { item: Of<"init"> }) {
  const parts = [item.agent, item.model, modeLabel(item.mode)].filter(Boolean);
  return (
    <p className="truncate py-1 text-xs text-faint" title={`${item.cwd}\n${item.sessionId}`}>
      {parts.join(" · ")}
      {item.cwd && <span className="font-mono"> · {item.cwd}</span>}
    </p>
  );
}

/** How a turn ended: duration, tokens, cost. */
export function ResultLine({ item }: { item: Of<"result"> }) {
  const tokens = item.tokens.input + item.tokens.cached + item.tokens.output;
  const facts = [
    item.ms >= 100 ? duration(item.ms) : "",
    tokens ? t("{n} tokens", { n: tokens.toLocaleString() }) : "",
    item.costUsd ? `$${item.costUsd.toFixed(item.costUsd < 0.1 ? 4 : 2)}` : "",
  ].filter(Boolean);
  if (item.ok) return <p className="py-1 text-xs text-faint">{[t("Done"), ...facts].join(" · ")}</p>;
  return (
    <div className="py-1 text-sm">
      {item.error && <p className="whitespace-pre-wrap text-bad">{inLanguage(item.error, item.retold)}</p>}
      <p className="text-xs text-faint">{[item.error ? t("Failed") : t("Stopped"), ...facts].join(" · ")}</p>
    </div>
  );
}

export function NoteLine({ item, name }: { item: Of<"line">; name: string }) {
  const [isOpen, setOpen] = useKeptState(`${name}/open`, false);
  switch (item.line) {
    case "compacted":
      return (
        <div className="py-2 text-xs text-faint">
          <button type="button" aria-expanded={isOpen} className="flex items-center gap-1 hover:text-soft" onClick={() => setOpen(!isOpen)}>
            <ChevronIcon size={12} /> {t("Earlier messages were summarised for the model")}
          </button>
          {isOpen && <p className="mt-1 whitespace-pre-wrap">{item.detail}</p>}
        </div>
      );
    case "cleared":
      return <Rule text={t("The model starts from here with an empty history")} />;
    case "workflow":
      return (
        <div className="py-1 text-sm text-soft">
          <Markdown text={item.text} />
        </div>
      );
    case "command":
      return (
        <div className="py-2 text-sm">
          <pre className="font-mono text-[13px] whitespace-pre-wrap text-soft">{item.text}</pre>
          {item.detail && <Diff diff={item.detail} lines={24} name={name} />}
        </div>
      );
    case "undone":
      return (
        <div className="py-1 text-sm text-soft">
          <Rule text={t("The turn above was undone")} />
          {item.text && (
            <p className="text-xs text-faint">
              {t("Put back:")} <span className="font-mono">{item.text.replaceAll("\n", ", ")}</span>
            </p>
          )}
          {item.detail && (
            <p className="text-xs text-warn">
              {t("Left alone:")} <span className="font-mono">{item.detail.replaceAll("\n", ", ")}</span>
            </p>
          )}
        </div>
      );
    case "background":
      return <p className="py-1 text-xs text-faint">{t("A background command has ended: {id}", { id: item.text })}</p>;
    case "resolved":
      return (
        <p className="py-1 text-xs text-faint">
          {item.text} · {askResolutionText(JSON.parse(item.detail ?? "{}") as Resolution)}
        </p>
      );
  }
}

function Rule({ text }: { text: string }) {
  return (
    <p className="flex items-center gap-3 py-4 text-xs text-faint before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
      {text}
    </p>
  );
}
