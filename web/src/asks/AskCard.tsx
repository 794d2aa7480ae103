import type { ReactNode } from "react";
import type { AskRequest } from "../contract/server_events";
import { t } from "../language/t";
import { useStore } from "../store";
import { askTitle } from "./ask_text";
import { BudgetAsk } from "./BudgetAsk";
import { PermissionAsk } from "./PermissionAsk";
import { PlanAsk } from "./PlanAsk";
import { QuestionAsk } from "./QuestionAsk";

/** An open ask, with what is needed to decide it. */
export function AskCard({ ask }: { ask: AskRequest }) {
  const isSent = useStore((state) => state.answered[ask.askId] === "sent");
  const isOpen = useStore((state) => state.connection === "open");
  return (
    <section
      aria-label={askTitle(ask)}
      data-ask={ask.askId}
      className="fade-in my-3 border-l-2 border-warn py-1 pl-4"
    >
      {ask.task && <p className="mb-1 text-xs text-faint">{t("Task: {task}", { task: ask.task })}</p>}
      <fieldset disabled={isSent || !isOpen} className="min-w-0">
        <Content ask={ask} />
      </fieldset>
    </section>
  );
}

function Content({ ask }: { ask: AskRequest }): ReactNode {
  switch (ask.kind) {
    case "question":
      return <QuestionAsk ask={ask} />;
    case "plan":
      return <PlanAsk ask={ask} />;
    case "budget":
      return <BudgetAsk ask={ask} />;
    default:
      return ask.toolName === "AskUserQuestion" ? <QuestionAsk ask={ask} /> : <PermissionAsk ask={ask} />;
  }
}
