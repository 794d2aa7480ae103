import type { Root, RootContent } from "hast";
import type { ReactNode } from "react";

/** Highlighted code, one node for each line: elements that span several lines are begun anew on each. */
export function highlightedLines(tree: Root): ReactNode[] {
  const lines: ReactNode[][] = [[]];
  const walk = (nodes: RootContent[], names: string) => {
    for (const node of nodes) {
      if (node.type === "element") {
        const own = node.properties.className;
        walk(node.children, Array.isArray(own) ? own.join(" ") : names);
      } else if (node.type === "text") {
        node.value.split("\n").forEach((part, index) => {
          if (index) lines.push([]);
          const line = lines[lines.length - 1]!;
          if (part) line.push(names ? <span key={line.length} className={names}>{part}</span> : part);
        });
      }
    }
  };
  walk(tree.children, "");
  return lines.map((each) => (each.length ? each : " "));
}
