import { useEffect, useState } from "react";
import { promptImage } from "../connection/api";
import { t } from "../language/t";
import { Dialog } from "../parts/Dialog";
import type { Item } from "../state/items";

/** What a person said, with its images. */
export function Prompt({ item, sessionId, isFirst }: { item: Extract<Item, { kind: "prompt" }>; sessionId: string; isFirst: boolean }) {
  const numbers = item.promptId && item.images ? [...Array(item.images).keys()] : [];
  return (
    <div className={`flex flex-col items-end pb-2 ${isFirst ? "pt-5" : "pt-7"}`}>
      {numbers.length > 0 && (
        <div className="mb-1.5 flex max-w-[85%] flex-wrap justify-end gap-2">
          {numbers.map((number) => (
            <PromptImage key={number} sessionId={sessionId} promptId={item.promptId!} number={number} />
          ))}
        </div>
      )}
      {(item.text || item.steer) && (
        <div className="max-w-[85%] rounded-2xl rounded-br-md bg-hover px-4 py-2.5 whitespace-pre-wrap [overflow-wrap:anywhere]">
          {item.steer && <span className="block text-xs text-faint">{t("while it was working")}</span>}
          {item.text}
        </div>
      )}
    </div>
  );
}

const loaded = new Map<string, string>(); // rows come and go as they are scrolled
const MOST_LOADED = 40;

function PromptImage({ sessionId, promptId, number }: { sessionId: string; promptId: string; number: number }) {
  const key = `${promptId}/${number}`;
  const [source, setSource] = useState(loaded.get(key) ?? "");
  const [isGone, setGone] = useState(false);
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    if (source) return;
    promptImage(sessionId, promptId, number).then(
      ({ mimeType, data }) => {
        if (!/^image\/(png|jpeg|gif|webp)$/.test(mimeType)) return setGone(true);
        const url = `data:${mimeType};base64,${data}`;
        if (loaded.size >= MOST_LOADED) loaded.delete(loaded.keys().next().value!);
        loaded.set(key, url);
        setSource(url);
      },
      () => setGone(true),
    );
  }, [key, source, sessionId, promptId, number]);
  const name = t("Image {n}", { n: number + 1 });
  if (isGone) return <span className="rounded-lg bg-hover px-3 py-2 text-xs text-faint">{t("{name} is not kept any more", { name })}</span>;
  return (
    <>
      <button type="button" aria-label={t("Show {name}", { name })} className="size-28 overflow-hidden rounded-xl bg-hover" onClick={() => setOpen(true)}>
        {source && <img src={source} alt={name} className="size-full object-cover" />}
      </button>
      {isOpen && source && (
        <Dialog title={name} className="picture" onClose={() => setOpen(false)}>
          <button type="button" data-autofocus className="block" aria-label={t("Close")} onClick={() => setOpen(false)}>
            <img src={source} alt={name} className="max-h-[85vh] max-w-full" />
          </button>
        </Dialog>
      )}
    </>
  );
}
