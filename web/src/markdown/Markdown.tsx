import { lexer, type Token, type Tokens } from "marked";
import { Fragment, memo, type ReactNode, useMemo, useRef } from "react";
import remend from "remend";
import { ErrorBoundary } from "../parts/ErrorBoundary";
import { GrowingBlocks } from "./blocks";
import { CodeBlock } from "./CodeBlock";
import { isTooMuch } from "./plain_text";

/** A whole text. HTML in it is shown as text, and images are links, so nothing is loaded from elsewhere. */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  return (
    <AsText text={text}>
      <Whole text={text} />
    </AsText>
  );
});

/** A text while it is written: finished blocks are not touched again. */
export function GrowingMarkdown({ text }: { text: string }) {
  return (
    <AsText text={text}>
      <Growing text={text} />
    </AsText>
  );
}

/** A text that is too much for the parser, such as a thousand quotes in each other, is shown as it is. */
function AsText({ text, children }: { text: string; children: ReactNode }) {
  const plain = <div className="whitespace-pre-wrap [overflow-wrap:anywhere]">{text}</div>;
  if (isTooMuch(text)) return plain;
  return (
    <ErrorBoundary of={text} fallback={plain}>
      {children}
    </ErrorBoundary>
  );
}

function Whole({ text }: { text: string }) {
  const tokens = useMemo(() => lexer(text), [text]);
  return <div className="markdown">{blocks(tokens)}</div>;
}

function Growing({ text }: { text: string }) {
  const growing = useRef<GrowingBlocks>(undefined);
  growing.current ??= new GrowingBlocks();
  const { finished, live } = growing.current.take(text);
  return (
    <div className="markdown">
      {finished.map((block, index) => (
        <FinishedBlock key={index} raw={block.raw} />
      ))}
      {live.trim() && blocks(lexer(remend(live)), true)}
    </div>
  );
}

const FinishedBlock = memo(function FinishedBlock({ raw }: { raw: string }) {
  return blocks(lexer(raw));
});

function blocks(tokens: Token[], live = false): ReactNode {
  return tokens.map((token, index) => <Fragment key={index}>{block(token as Tokens.Generic, live)}</Fragment>);
}

function block(token: Tokens.Generic, live: boolean): ReactNode {
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading": {
      const Heading = `h${Math.min(token.depth + 1, 6)}` as "h2";
      return <Heading>{inline(token.tokens)}</Heading>;
    }
    case "paragraph":
      return <p>{inline(token.tokens)}</p>;
    case "text":
      return token.tokens ? inline(token.tokens) : unescape(token.text);
    case "code":
      return <CodeBlock code={token.text} language={languageOf(token.lang)} live={live} />;
    case "blockquote":
      return <blockquote>{blocks(token.tokens ?? [], live)}</blockquote>;
    case "hr":
      return <hr />;
    case "list":
      return list(token as Tokens.List, live);
    case "table":
      return table(token as Tokens.Table);
    default:
      return <p>{token.raw}</p>; // HTML too
  }
}

function list(token: Tokens.List, live: boolean): ReactNode {
  const items = token.items.map((item, index) => (
    <li key={index} className={item.task ? "task" : undefined}>
      {item.task && <input type="checkbox" checked={!!item.checked} readOnly disabled aria-label="" />}
      {blocks(
        item.tokens.filter((each) => each.type !== "checkbox"),
        live,
      )}
    </li>
  ));
  return token.ordered ? <ol start={Number(token.start) || 1}>{items}</ol> : <ul>{items}</ul>;
}

const ALIGN = { left: "", center: "align-center", right: "align-right" };

function table(token: Tokens.Table): ReactNode {
  return (
    <div className="overflow-x-auto" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {token.header.map((cell, index) => (
              <th key={index} className={ALIGN[token.align[index] ?? "left"]}>
                {inline(cell.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, at) => (
                <td key={at} className={ALIGN[token.align[at] ?? "left"]}>
                  {inline(cell.tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inline(tokens: Token[] | undefined): ReactNode {
  return (tokens ?? []).map((token, index) => <Fragment key={index}>{span(token as Tokens.Generic)}</Fragment>);
}

function span(token: Tokens.Generic): ReactNode {
  switch (token.type) {
    case "strong":
      return <strong>{inline(token.tokens)}</strong>;
    case "em":
      return <em>{inline(token.tokens)}</em>;
    case "del":
      return <del>{inline(token.tokens)}</del>;
    case "codespan":
      return <code>{token.text}</code>;
    case "br":
      return <br />;
    case "link":
      return <Link href={token.href}>{inline(token.tokens)}</Link>;
    case "image":
      return <Link href={token.href}>{token.text || token.href}</Link>;
    case "escape":
      return token.text;
    case "text":
      return token.tokens ? inline(token.tokens) : unescape(token.text);
    default:
      return token.raw;
  }
}

function Link({ href, children }: { href: string; children: ReactNode }) {
  if (!/^(https?:|mailto:)/i.test(href)) return <span title={href}>{children}</span>;
  return (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  );
}

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", nbsp: " " };

function unescape(text: string): string {
  return text.includes("&") ? text.replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name: string) => ENTITIES[name]!) : text;
}

function languageOf(info: string | undefined): string {
  return (info ?? "").trim().split(/[\s,{]/, 1)[0]!.toLowerCase();
}
