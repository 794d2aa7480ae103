import type { AskRequest } from "../contract/server_events";
import { t } from "../language/t";
import { answer } from "./answer";

export function BudgetAsk({ ask }: { ask: AskRequest }) {
  const { spent, limit, until } = ask.input as { spent?: number; limit?: number; until?: number };
  const money = (value: number | undefined) => `$${(value ?? 0).toFixed(2)}`;
  return (
    <>
      <h2 className="text-sm font-semibold">{t("The budget is used up")}</h2>
      <p className="text-sm text-soft">
        {t("{spent} of {limit} are spent. Raise the budget to {until} and go on?", {
          spent: money(spent),
          limit: money(limit),
          until: money(until),
        })}
      </p>
      <div className="mt-3 flex gap-2">
        <button type="button" className="button primary" onClick={() => answer(ask, { behavior: "allow" })}>
          {t("Raise and go on")}
        </button>
        <button type="button" className="button" onClick={() => answer(ask, { behavior: "deny_and_stop" })}>
          {t("Stop")}
        </button>
      </div>
    </>
  );
}
