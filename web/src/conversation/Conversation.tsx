import { useVirtualizer } from "@tanstack/react-virtual";
import { useRef } from "react";
import { t } from "../language/t";
import { DownIcon } from "../parts/icons";
import type { Item } from "../state/items";
import type { Session } from "../state/state";
import { ItemRow } from "./ItemRow";
import { LiveRow } from "./LiveRow";
import { useStickToBottom } from "./stick_to_bottom";

const HEIGHTS: Record<Item["kind"], number> = { prompt: 72, text: 140, thinking: 32, tool: 68, init: 36, result: 36, line: 32 };
const LIVE_HEIGHT = 80;

/** The conversation of a session. */
export function Conversation({ session }: { session: Session }) {
  if (session.items.length || session.hydration === "done") return <Rows session={session} />;
  return (
    <div className="min-h-0 flex-1 overflow-y-auto" role="log" aria-label={t("Conversation")} tabIndex={0}>
      <div className="mx-auto w-full max-w-3xl px-4 md:px-6">
        <LiveRow session={session} />
      </div>
    </div>
  );
}

/** Only the rows that are on the screen are in the page. The first that are drawn are the last ones: nothing is drawn
 * that nobody sees. */
function Rows({ session }: { session: Session }) {
  const scroller = useRef<HTMLDivElement>(null);
  const { items } = session;
  const virtual = useVirtualizer({
    count: items.length + 1,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (index < items.length ? HEIGHTS[items[index]!.kind] : LIVE_HEIGHT),
    getItemKey: (index) => (index < items.length ? items[index]!.key : "live"),
    initialOffset: () => items.reduce((sum, each) => sum + HEIGHTS[each.kind], LIVE_HEIGHT),
    initialRect: { width: 0, height: window.innerHeight },
    overscan: 4,
  });
  const { isAtBottom, toBottom, content } = useStickToBottom(scroller, virtual.getTotalSize());
  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={scroller}
        className="h-full overflow-y-auto overscroll-contain [overflow-anchor:none]"
        role="log"
        aria-label={t("Conversation")}
        aria-busy={session.row.status === "running"}
        tabIndex={0}
      >
        <div ref={content} className="relative mx-auto w-full max-w-3xl" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, key, start }) => (
            <div
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              className="absolute inset-x-0 top-0 px-4 md:px-6"
              style={{ transform: `translateY(${start}px)` }}
            >
              {index < items.length ? (
                <ItemRow item={items[index]!} asks={session.asks} sessionId={session.row.id} cwd={session.row.cwd ?? ""} isFirst={index === 0} />
              ) : (
                <LiveRow session={session} />
              )}
            </div>
          ))}
        </div>
      </div>
      {!isAtBottom && (
        <button
          type="button"
          className="fade-in absolute bottom-3 left-1/2 flex h-8 -translate-x-1/2 items-center gap-1.5 rounded-full border border-line bg-raised px-3 text-sm text-soft shadow-md hover:bg-hover"
          onClick={toBottom}
        >
          <DownIcon size={14} /> {t("Latest")}
        </button>
      )}
    </div>
  );
}
