import { type ClipboardEvent, type DragEvent, type KeyboardEvent, memo, useEffect, useRef, useState } from "react";
import { send } from "../connection/socket";
import { answer } from "../asks/answer";
import type { Attachment, IdeContext } from "../contract/client_events";
import type { AskRequest, Question, SessionRow } from "../contract/server_events";
import { t } from "../language/t";
import { CloseIcon, ImageIcon, SendIcon, StopIcon } from "../parts/icons";
import type { QueuedPrompt } from "../state/state";
import { dispatch, useStore } from "../store";
import { isTooLarge, readImages } from "./attachments";
import { ContextChip } from "./ContextChip";
import { contextOf, detachSelection, removeIdeContext, useContexts } from "./context";
import { addImages, draftOf, imagesOf, setDraft, setImages, useDrafts, useImages } from "./drafts";
import { type Enter, enterAction, isComposing } from "./enter";
import { Queue } from "./Queue";
import { LIST_ID, Suggestions } from "./Suggestions";
import { Switches } from "./Switches";
import { useSuggestions } from "./use_suggestions";

/** Where prompts are written. Enter sends; while the session works, it does what the session says (`enterAction`). */
export const Composer = memo(function Composer({ row, queue, question }: { row: SessionRow; queue: QueuedPrompt[]; question: AskRequest | null }) {
  const { id } = row;
  const text = useDrafts((drafts) => draftOf(id, drafts));
  const connection = useStore((state) => state.connection);
  const images = useImages((all) => imagesOf(id, all));
  const [isDragging, setDragging] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const isRunning = row.status === "running";
  const enter = enterAction(row, false);
  const canSend = (!!text.trim() || images.length > 0) && connection === "open" && enter !== "nothing";
  const ide = useStore((state) => state.ide);
  const contexts = useContexts();
  const context = contextOf(id, contexts, ide);
  const suggestions = useSuggestions(row, text, field, (next) => setDraft(id, next));
  useEffect(() => {
    if (window.matchMedia("(min-width: 768px)").matches && !document.querySelector("dialog[open]")) field.current?.focus();
  }, []);

  const submit = (steer: boolean) => {
    if (!canSend) return;
    if (isTooLarge(text, images)) return dispatch({ kind: "told", text: t("The message is too large. With its images, it may have 8 MB."), sessionId: id });
    const requestId = crypto.randomUUID();
    const payload = { sessionId: id, prompt: text, steer: steer && isRunning, attachments: images, ideContext: context, requestId };
    if (!send({ type: "session.continue", payload })) return;
    dispatch({ kind: "sent", requestId, sessionId: id, text, images });
    setDraft(id, "");
    setImages(id, []);
    detachSelection(id);
  };
  const answerWithText = () => {
    const asked = (question?.input.questions as Question[])[0]!.question;
    const updatedInput = { ...question!.input, answers: { [asked]: text.trim() } };
    if (answer(question!, { behavior: "allow", updatedInput })) setDraft(id, "");
  };
  const stop = () => send({ type: "session.stop", payload: { sessionId: id } });
  const add = async (files: Iterable<File>) => addImages(id, await readImages(files));
  const press = (event: KeyboardEvent) => {
    if (isComposing(event) || suggestions.press(event) || event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    const action = enterAction(row, event.ctrlKey || event.metaKey);
    if (action === "stop") stop();
    else if (action !== "nothing") submit(action === "steer");
  };
  const paste = (event: ClipboardEvent) => {
    if (!event.clipboardData.files.length) return;
    event.preventDefault();
    void add(event.clipboardData.files);
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setDragging(false);
    void add(event.dataTransfer.files);
  };
  return (
    <div className="mx-auto w-full max-w-3xl shrink-0 px-3 pb-[max(0.75rem,env(safe-area-inset-bottom))] md:px-6 md:pb-5">
      <Queue queue={queue} sessionId={id} />
      <div
        className={`relative rounded-2xl border bg-raised px-2 pt-1 pb-1.5 shadow-sm transition-colors focus-within:border-faint/40 ${isDragging ? "border-accent" : "border-line"}`}
        onDragOver={(event) => {
          event.preventDefault();
          setDragging(true);
        }}
        onDragLeave={() => setDragging(false)}
        onDrop={drop}
      >
        {suggestions.found.length > 0 && (
          <Suggestions label={t("Suggestions")} found={suggestions.found} chosen={suggestions.chosen} onChoose={suggestions.choose} />
        )}
        {context && <ContextChip context={context} onRemove={() => removeContext(id, ide)} />}
        {images.length > 0 && <Images images={images} onChange={(left) => setImages(id, left)} />}
        <textarea
          ref={field}
          rows={1}
          value={text}
          aria-label={t("Message")}
          placeholder={placeholder(enter)}
          aria-autocomplete="list"
          aria-controls={suggestions.found.length ? LIST_ID : undefined}
          aria-activedescendant={suggestions.found.length ? `${LIST_ID}-${suggestions.chosen}` : undefined}
          onSelect={suggestions.moved}
          className="field-sizing-content block max-h-[40vh] min-h-11 w-full resize-none bg-transparent px-2 py-2.5 outline-none"
          onChange={(event) => setDraft(id, event.target.value)}
          onKeyDown={press}
          onPaste={paste}
        />
        <div className="flex items-center gap-1">
          <button type="button" className="icon-button" aria-label={t("Attach an image")} title={t("Attach an image")} onClick={() => picker.current?.click()}>
            <ImageIcon />
          </button>
          <input
            ref={picker}
            type="file"
            accept="image/*"
            multiple
            hidden
            aria-label={t("Attach an image")}
            onChange={(event) => {
              void add(event.target.files ?? []);
              event.target.value = "";
            }}
          />
          <Switches row={row} />
          <span className="flex-1" />
          {question && text.trim() && (
            <button type="button" className="button plain h-8 px-2" onClick={answerWithText}>
              {t("Send as the answer")}
            </button>
          )}
          {isRunning && canSend && enter === "queue" && (
            <button type="button" className="button plain h-8 px-2" title="Ctrl-Enter" onClick={() => submit(true)}>
              {t("Send now")}
            </button>
          )}
          {isRunning && (
            <button type="button" className="button h-8 px-2.5" aria-label={t("Stop")} disabled={connection !== "open"} onClick={stop}>
              <StopIcon /> <span className="max-sm:hidden">{t("Stop")}</span>
            </button>
          )}
          {(!isRunning || (canSend && enter !== "stop")) && (
            <button
              type="button"
              className="button primary h-8 px-2.5"
              disabled={!canSend}
              aria-label={!isRunning ? t("Send") : enter === "steer" ? t("Send now") : t("Queue")}
              onClick={() => submit(enter === "steer")}
            >
              <SendIcon />
              {isRunning && <span className="max-sm:hidden">{enter === "steer" ? t("Send now") : t("Queue")}</span>}
            </button>
          )}
        </div>
      </div>
    </div>
  );
});

function placeholder(enter: Enter): string {
  switch (enter) {
    case "send":
      return t("Message …");
    case "steer":
      return t("Write a message; it is read at the next step");
    case "stop":
      return t("Enter stops the turn");
    case "nothing":
      return t("It is working …");
    case "queue":
      return t("Write the next message; it is sent after this turn");
  }
}

/** The page's own selection, or else that of the editor, until it changes. */
function removeContext(id: string, ide: IdeContext | null): void {
  if (useContexts.getState().selections[id]) detachSelection(id);
  else if (ide) removeIdeContext(ide);
}

function Images({ images, onChange }: { images: Attachment[]; onChange: (images: Attachment[]) => void }) {
  return (
    <ul className="flex flex-wrap gap-2 px-2 pt-2" aria-label={t("Images")}>
      {images.map((each, index) => (
        <li key={index} className="relative">
          <img src={`data:${each.mimeType};base64,${each.data}`} alt={t("Image {n}", { n: index + 1 })} className="size-16 rounded-lg object-cover" />
          <button
            type="button"
            className="absolute -top-1.5 -right-1.5 grid size-5 place-items-center rounded-full border border-line bg-raised text-soft"
            aria-label={t("Remove image {n}", { n: index + 1 })}
            onClick={() => onChange(images.filter((_, at) => at !== index))}
          >
            <CloseIcon size={10} />
          </button>
        </li>
      ))}
    </ul>
  );
}
