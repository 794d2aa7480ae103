import { useState } from "react";
import type { AskRequest, Question } from "../contract/server_events";
import { t } from "../language/t";
import { answer } from "./answer";
import { joinedAnswer } from "./joined_answer";

/** Questions of the agent. One question with one choice is answered with the click. */
export function QuestionAsk({ ask }: { ask: AskRequest }) {
  const questions = (ask.input.questions ?? []) as Question[];
  const [chosen, setChosen] = useState<Record<string, string[]>>({});
  const [other, setOther] = useState<Record<string, string>>({});
  const isOnClick = questions.length === 1 && !questions[0]!.multiSelect;
  const submit = (labels: Record<string, string[]>) => {
    const answers = Object.fromEntries(
      questions.map(({ question }) => [question, joinedAnswer(labels[question] ?? [], other[question] ?? "")]),
    );
    answer(ask, { behavior: "allow", updatedInput: { ...ask.input, answers } });
  };
  const choose = ({ question, multiSelect }: Question, label: string) => {
    const before = chosen[question] ?? [];
    const toggled = before.includes(label) ? before.filter((each) => each !== label) : [...before, label];
    const next = { ...chosen, [question]: multiSelect ? toggled : [label] };
    setChosen(next);
    if (isOnClick) submit(next);
  };
  const isComplete = questions.every(({ question }) => chosen[question]?.length || other[question]?.trim());
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isComplete) submit(chosen);
      }}
    >
      {questions.map((each) => (
        <QuestionChoices
          key={each.question}
          question={each}
          chosen={chosen[each.question] ?? []}
          other={other[each.question] ?? ""}
          onChoose={(label) => choose(each, label)}
          onOther={(text) => {
            setOther({ ...other, [each.question]: text });
            if (!each.multiSelect && text) setChosen({ ...chosen, [each.question]: [] });
          }}
        />
      ))}
      <div className="mt-3 flex justify-end gap-2">
        <button type="button" className="button" onClick={() => answer(ask, { behavior: "deny" })}>
          {t("Cancel")}
        </button>
        <button type="submit" className="button primary" disabled={!isComplete}>
          {t("Answer")}
        </button>
      </div>
    </form>
  );
}

function QuestionChoices(props: {
  question: Question;
  chosen: string[];
  other: string;
  onChoose: (label: string) => void;
  onOther: (text: string) => void;
}) {
  const { question, header, options, multiSelect } = props.question;
  return (
    <div className="not-first:mt-4" role="group" aria-label={question}>
      {header && <p className="text-xs text-faint">{header}</p>}
      <h2 className="text-sm font-semibold">{question}</h2>
      {multiSelect && <p className="text-xs text-faint">{t("Several may be chosen")}</p>}
      <div className="mt-2 space-y-1">
        {options.map((each) => {
          const isChosen = props.chosen.includes(each.label);
          return (
            <button
              key={each.label}
              type="button"
              role={multiSelect ? "checkbox" : "radio"}
              aria-checked={isChosen}
              className={`block w-full rounded-lg px-3 py-1.5 text-left text-sm ${isChosen ? "bg-accent text-on-accent" : "bg-panel hover:bg-hover"}`}
              onClick={() => props.onChoose(each.label)}
            >
              <span className="block">{each.label}</span>
              {each.description && (
                <span className={`block text-xs ${isChosen ? "" : "text-faint"}`}>{each.description}</span>
              )}
            </button>
          );
        })}
        <input
          className="field"
          placeholder={t("Other …")}
          aria-label={`${t("Other …")} ${question}`}
          value={props.other}
          onChange={(event) => props.onOther(event.target.value)}
        />
      </div>
    </div>
  );
}
