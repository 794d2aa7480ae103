import { memo } from "react";
import type { AskRequest } from "../contract/server_events";
import { t } from "../language/t";
import { Markdown } from "../markdown/Markdown";
import { CopyButton } from "../parts/CopyButton";
import { ErrorBoundary } from "../parts/ErrorBoundary";
import type { Item } from "../state/items";
import { InitLine, NoteLine, ResultLine } from "./lines";
import { Prompt } from "./Prompt";
import { Thinking } from "./Thinking";
import { ToolCard } from "./ToolCard";

interface Props {
  item: Item;
  asks: AskRequest[];
  sessionId: string;
  cwd: string;
  isFirst: boolean;
}

/** One item of a conversation. */
export const ItemRow = memo(
  function ItemRow(props: Props) {
    return (
      <ErrorBoundary of={props.item} fallback={<p className="py-2 text-sm text-faint">{t("This part cannot be shown.")}</p>}>
        <Row {...props} />
      </ErrorBoundary>
    );
  },
  (a, b) =>
    a.item === b.item &&
    a.isFirst === b.isFirst &&
    a.cwd === b.cwd &&
    (a.asks === b.asks || a.item.kind !== "tool" || same(asksAbout(a.item, a.asks), asksAbout(b.item, b.asks))),
);

function Row({ item, asks, sessionId, cwd, isFirst }: Props) {
  const name = `${sessionId}/${item.key}`;
  switch (item.kind) {
    case "prompt":
      return <Prompt item={item} sessionId={sessionId} isFirst={isFirst} />;
    case "text":
      return (
        <div className="group relative py-2">
          <Markdown text={item.text} />
          <div className="absolute -right-1 -bottom-3 opacity-0 group-hover:opacity-100 focus-within:opacity-100">
            <CopyButton text={item.text} label={t("Copy the answer")} />
          </div>
        </div>
      );
    case "thinking":
      return <Thinking text={item.text} name={name} />;
    case "tool":
      return <ToolCard tool={item} asks={asksAbout(item, asks)} sessionId={sessionId} cwd={cwd} name={name} />;
    case "init":
      return <InitLine item={item} />;
    case "result":
      return <ResultLine item={item} />;
    case "line":
      return <NoteLine item={item} name={name} />;
  }
}

function asksAbout(item: Item, asks: AskRequest[]): AskRequest[] {
  return item.kind === "tool" ? asks.filter((each) => each.toolUseId === item.id && !each.childSessionId) : [];
}

function same(a: AskRequest[], b: AskRequest[]): boolean {
  return a.length === b.length && a.every((each, index) => each === b[index]);
}
