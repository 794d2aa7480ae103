import { t } from "../language/t";
import { useKeptState } from "../parts/kept_state";

/** A line of text as an answer. */
export function TextAnswer(props: { name: string; label: string; action: string; onSend: (text: string) => void; onCancel: () => void }) {
  const [text, setText] = useKeptState(`${props.name}/text`, "");
  return (
    <form
      className="mt-3 flex flex-wrap gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        props.onSend(text.trim());
      }}
    >
      <input
        className="field min-w-48 flex-1"
        autoFocus
        placeholder={props.label}
        aria-label={props.label}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          event.stopPropagation();
          props.onCancel();
        }}
      />
      <button type="submit" className="button primary" disabled={!text.trim()}>
        {props.action}
      </button>
      <button type="button" className="button" onClick={props.onCancel}>
        {t("Cancel")}
      </button>
    </form>
  );
}
