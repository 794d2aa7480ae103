import type { Root, RootContent } from "hast";
import { memo, type ReactNode, useEffect, useState } from "react";
import { CopyButton } from "../parts/CopyButton";
import { loadHighlight } from "./highlight";

/** Code with its language and a copy button. It is highlighted once it is complete. */
export const CodeBlock = memo(function CodeBlock({ code, language, live }: { code: string; language: string; live?: boolean }) {
  const [tree, setTree] = useState<Root | null>(null);
  useEffect(() => {
    if (live || !language) return;
    let isGone = false;
    void loadHighlight().then((highlight) => {
      if (!isGone) setTree(highlight(language, code));
    });
    return () => {
      isGone = true;
    };
  }, [code, language, live]);
  return (
    <div className="code-block group relative my-3 first:mt-0 last:mb-0">
      <div className="flex items-center justify-between px-3.5 pt-2 text-xs text-faint">
        <span>{language || "text"}</span>
        <CopyButton text={code} />
      </div>
      <pre tabIndex={0} className="overflow-x-auto px-3.5 pt-1 pb-3 font-mono text-[13px] leading-[1.55]">
        <code>{tree ? children(tree.children) : code}</code>
      </pre>
    </div>
  );
});

function children(nodes: RootContent[]): ReactNode[] {
  return nodes.map((node, index) => {
    if (node.type === "text") return node.value;
    if (node.type !== "element") return null;
    const names = node.properties.className;
    return (
      <span key={index} className={Array.isArray(names) ? names.join(" ") : undefined}>
        {children(node.children)}
      </span>
    );
  });
}
