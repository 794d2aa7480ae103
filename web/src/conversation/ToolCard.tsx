import { lazy, Suspense, useState } from "react";
import { AskCard } from "../asks/AskCard";
import type { AskRequest } from "../contract/server_events";
import { t } from "../language/t";
import { Markdown } from "../markdown/Markdown";
import { useKeptState } from "../parts/kept_state";
import type { ToolItem } from "../state/items";
import { useStore } from "../store";
import { duration } from "./duration";
import { Diff } from "./Diff";
import { editedLines } from "./line_diff";
import { Output } from "./Output";
import { askResolutionText } from "./resolution_text";
import { Todos } from "./Todos";
import { toolLabel, toolSummary } from "./tool_summary";

const TaskDialog = lazy(() => import("./TaskDialog"));

/** A tool use: what it does, how it stands, what came out. */
export function ToolCard({ tool, asks, sessionId, cwd, name }: { tool: ToolItem; asks: AskRequest[]; sessionId: string; cwd: string; name: string }) {
  const [isOpen, setOpen] = useKeptState(`${name}/arguments`, false);
  const summary = asks.length ? "" : toolSummary(tool, cwd); // what is asked says it in full
  const [dot, label] = asks.length ? ["waiting", t("Waiting for you")] : stateOf(tool);
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
        {!asks.length && <Body tool={tool} name={name} />}
        {tool.name === "Task" && <TaskLink tool={tool} sessionId={sessionId} title={summary || tool.name} />}
        {isOpen && <Input tool={tool} />}
        {tool.resolution && <p className="mt-0.5 text-xs text-faint">{askResolutionText(tool.resolution)}</p>}
      </div>
      {asks.map((each) => (
        <AskCard key={each.askId} ask={each} />
      ))}
    </div>
  );
}

function stateOf({ status, isUnknown }: ToolItem): [string, string] {
  if (isUnknown) return ["waiting", t("It is not known whether it ran")];
  switch (status) {
    case "pending":
      return ["running", t("Running")];
    case "success":
      return ["good", t("Done")];
    case "error":
      return ["bad", t("Failed")];
  }
}

/** Our own agent works on a task in a session of its own. Other agents tell only its result. */
function TaskLink({ tool, sessionId, title }: { tool: ToolItem; sessionId: string; title: string }) {
  const [isOpen, setOpen] = useState(false);
  const isOurs = useStore((state) => state.sessions[sessionId]?.row.agent === "native");
  if (!isOurs) return null;
  return (
    <>
      <button type="button" className="text-xs text-accent hover:underline" onClick={() => setOpen(true)}>
        {t("Show what it did")}
      </button>
      {isOpen && (
        <Suspense fallback={null}>
          <TaskDialog sessionId={sessionId} toolUseId={tool.id} title={title} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}

function Body({ tool, name }: { tool: ToolItem; name: string }) {
  const lines = editedLines(tool);
  const isQuiet = tool.status === "success" && (lines || tool.name === "TodoWrite");
  return (
    <>
      {lines && lines.length > 0 && (
        <div className="mt-1.5">
          <Diff rows={lines} lines={10} name={name} />
        </div>
      )}
      {tool.name === "TodoWrite" && <Todos input={tool.input} />}
      {tool.name === "ExitPlanMode" && (
        <div className="mt-1.5 text-sm text-soft">
          <Markdown text={String(tool.input.plan ?? "")} />
        </div>
      )}
      {tool.output && <Output text={tool.output} name={`${name}/live`} live />}
      {tool.isUnknown && <p className="mt-1 text-sm text-warn">{t("The process that ran this call ended. The call may have run; check before you repeat it.")}</p>}
      {tool.result && !isQuiet && !tool.isUnknown && <Output text={tool.result} name={name} isError={tool.status === "error"} />}
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
