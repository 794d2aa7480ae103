import type { AskRequest } from "../contract/server_events";
import { t } from "../language/t";
import { Markdown } from "../markdown/Markdown";
import { useKeptState } from "../parts/kept_state";
import { answer } from "./answer";
import { TextAnswer } from "./TextAnswer";

export function PlanAsk({ ask }: { ask: AskRequest }) {
  const [isTyping, setTyping] = useKeptState(`${ask.askId}/typing`, false);
  const decide = (option: "smart" | "default" | "keep") => answer(ask, { behavior: "plan", option });
  return (
    <>
      <h2 className="mb-2 text-sm font-semibold">{t("Carry out this plan?")}</h2>
      <div className="max-h-[28rem] overflow-y-auto text-sm" tabIndex={0}>
        <Markdown text={String(ask.input.plan ?? "")} />
      </div>
      {isTyping ? (
        <TextAnswer
          name={ask.askId}
          label={t("What should be different?")}
          action={t("Send")}
          onSend={(feedback) => answer(ask, { behavior: "plan", option: "feedback", feedback })}
          onCancel={() => setTyping(false)}
        />
      ) : (
        <div className="mt-3 flex flex-wrap gap-2">
          <button type="button" className="button primary" onClick={() => decide("smart")}>
            {t("Yes, edit freely")}
          </button>
          <button type="button" className="button" onClick={() => decide("default")}>
            {t("Yes, ask before changes")}
          </button>
          <button type="button" className="button" onClick={() => setTyping(true)}>
            {t("Change the plan …")}
          </button>
          <button type="button" className="button plain" onClick={() => decide("keep")}>
            {t("Keep planning")}
          </button>
        </div>
      )}
    </>
  );
}
