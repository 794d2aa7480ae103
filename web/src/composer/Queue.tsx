import { useState } from "react";
import { send } from "../connection/socket";
import { t } from "../language/t";
import type { QueuedPrompt } from "../state/state";
import { isComposing } from "./enter";

/** Prompts that wait until the session is free. They can be changed and taken back until then. */
export function Queue({ queue, sessionId }: { queue: QueuedPrompt[]; sessionId: string }) {
  if (!queue.length) return null;
  return (
    <ul aria-label={t("Queue")} className="mb-2 space-y-1 px-2 text-sm">
      {queue.map((each) => (
        <QueueLine key={each.id} prompt={each} sessionId={sessionId} />
      ))}
    </ul>
  );
}

function QueueLine({ prompt, sessionId }: { prompt: QueuedPrompt; sessionId: string }) {
  const [edited, setEdited] = useState<string | null>(null);
  const save = () => {
    const isSame = !edited?.trim() || edited === prompt.text;
    if (isSame || send({ type: "prompt.edit", payload: { sessionId, promptId: prompt.id, prompt: edited! } })) setEdited(null);
  };
  return (
    <li className="flex items-center gap-2">
      <span className="shrink-0 text-xs text-faint">{prompt.steer ? t("Next step") : t("Queued")}</span>
      {edited === null ? (
        <span className="min-w-0 flex-1 truncate text-soft" title={prompt.text}>
          {prompt.text}
        </span>
      ) : (
        <input
          className="field flex-1"
          autoFocus
          value={edited}
          aria-label={t("Queued message")}
          onChange={(event) => setEdited(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && !isComposing(event)) save();
            if (event.key === "Escape") setEdited(null);
          }}
        />
      )}
      <button type="button" className="text-xs text-accent hover:underline" onClick={() => (edited === null ? setEdited(prompt.text) : save())}>
        {edited === null ? t("Edit") : t("Save")}
      </button>
      <button
        type="button"
        className="text-xs text-accent hover:underline"
        onClick={() => send({ type: "prompt.recall", payload: { sessionId, promptId: prompt.id } })}
      >
        {t("Remove")}
      </button>
    </li>
  );
}
