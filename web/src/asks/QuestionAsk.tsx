import type { AskRequest, Question } from "../contract/server_events";
import { t } from "../language/t";
import { useKeptState } from "../parts/kept_state";
import { answer } from "./answer";
import { joinedAnswer } from "./joined_answer";

/** Questions of the agent. One question with one choice is answered with the click. */
export function QuestionAsk({ ask }: { ask: AskRequest }) {
  const questions = (ask.input.questions ?? []) as Question[];
  const [chosen, setChosen] = useKeptState<Record<string, string[]>>(`${ask.askId}/chosen`, {});
  const [other, setOther] = useKeptState<Record<string, string>>(`${ask.askId}/other`, {});
  const isOnClick = questions.length === 1 && !questions[0]!.multiSelect;
  const submit = (labels: Record<string, string[]>, texts: Record<string, string>) => {
    const answers = Object.fromEntries(
      questions.map(({ question }) => [question, joinedAnswer(labels[question] ?? [], texts[question] ?? "")]),
    );
    answer(ask, { behavior: "allow", updatedInput: { ...ask.input, answers } });
  };
  /** Of a question with one answer, a choice takes the place of a text, and the other way round. */
  const choose = ({ question, multiSelect }: Question, label: string) => {
    const before = chosen[question] ?? [];
    const toggled = before.includes(label) ? before.filter((each) => each !== label) : [...before, label];
    const labels = { ...chosen, [question]: multiSelect ? toggled : [label] };
    const texts = multiSelect ? other : { ...other, [question]: "" };
    setChosen(labels);
    setOther(texts);
    if (isOnClick) submit(labels, texts);
  };
  const isComplete = questions.every(({ question }) => chosen[question]?.length || other[question]?.trim());
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isComplete) submit(chosen, other);
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
      <div className="mt-3 flex gap-2">
        <button type="submit" className="button primary" disabled={!isComplete}>
          {t("Answer")}
        </button>
        <button type="button" className="button" onClick={() => answer(ask, { behavior: "deny" })}>
          {t("Cancel")}
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
