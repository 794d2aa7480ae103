import { useState } from "react";
import { AskCard } from "../asks/AskCard";
import type { AskRequest } from "../contract/server_events";
import { t } from "../language/t";
import { Markdown } from "../markdown/Markdown";
import type { ToolItem } from "../state/items";
import { duration } from "./duration";
import { Diff } from "./Diff";
import { editedLines } from "./line_diff";
import { Output } from "./Output";
import { askResolutionText } from "./resolution_text";
import { Todos } from "./Todos";
import { toolLabel, toolSummary } from "./tool_summary";

/** A tool use: what it does, how it stands, what came out. */
export function ToolCard({ tool, asks, cwd }: { tool: ToolItem; asks: AskRequest[]; cwd: string }) {
  const [isOpen, setOpen] = useState(false);
  const summary = asks.length ? "" : toolSummary(tool, cwd); // what is asked says it in full
  const dot = asks.length ? "waiting" : { pending: "running", success: "good", error: "bad" }[tool.status];
  const label = asks.length ? t("Waiting for you") : { pending: t("Running"), success: t("Done"), error: t("Failed") }[tool.status];
  return (
    <div className="py-1.5" data-tool={tool.name} data-status={tool.status}>
      <button
        type="button"
        aria-expanded={isOpen}
        className="flex w-full min-w-0 items-center gap-2.5 rounded-md text-left text-sm"
        onClick={() => setOpen(!isOpen)}
      >
        <span className={`status-dot ${dot}`} role="img" aria-label={label} />
        <span className="shrink-0 font-medium">{toolLabel(tool.name)}</span>
        <span className="min-w-0 flex-1 truncate font-mono text-[13px] text-soft" title={summary}>
          {summary}
        </span>
        {(tool.durationMs ?? 0) >= 100 && <span className="shrink-0 text-xs text-faint">{duration(tool.durationMs)}</span>}
      </button>
      <div className="ml-[1.1rem]">
        {!asks.length && <Body tool={tool} />}
        {isOpen && <Input tool={tool} />}
        {tool.resolution && <p className="mt-0.5 text-xs text-faint">{askResolutionText(tool.resolution)}</p>}
      </div>
      {asks.map((each) => (
        <AskCard key={each.askId} ask={each} />
      ))}
    </div>
  );
}

function Body({ tool }: { tool: ToolItem }) {
  const lines = editedLines(tool);
  const isQuiet = tool.status === "success" && (lines || tool.name === "TodoWrite");
  return (
    <>
      {lines && lines.length > 0 && (
        <div className="mt-1.5">
          <Diff rows={lines} lines={10} />
        </div>
      )}
      {tool.name === "TodoWrite" && <Todos input={tool.input} />}
      {tool.name === "ExitPlanMode" && (
        <div className="mt-1.5 text-sm text-soft">
          <Markdown text={String(tool.input.plan ?? "")} />
        </div>
      )}
      {tool.output && <Output text={tool.output} live />}
      {tool.result && !isQuiet && <Output text={tool.result} isError={tool.status === "error"} />}
    </>
  );
}

/** The arguments as the tool got them. */
function Input({ tool }: { tool: ToolItem }) {
  const text = typeof tool.input.command === "string" ? tool.input.command : JSON.stringify(tool.input, null, 2);
  return (
    <pre tabIndex={0} className="code-block fade-in mt-1.5 max-h-96 overflow-auto px-3 py-2 font-mono text-xs whitespace-pre-wrap break-all">
      {text}
    </pre>
  );
}
