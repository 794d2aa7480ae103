import { useEffect, useRef } from "react";
import { FileIcon, FolderIcon } from "../parts/icons";

export const LIST_ID = "suggestions";

export interface Suggestion {
  value: string;
  label: string;
  detail?: string;
  kind: "file" | "folder" | "command";
}

/** What the word at the cursor may become. The field keeps the focus; arrow keys move `chosen`. */
export function Suggestions(props: { label: string; found: Suggestion[]; chosen: number; onChoose: (value: string) => void }) {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    list.current?.children[props.chosen]?.scrollIntoView({ block: "nearest" });
  }, [props.chosen]);
  return (
    <ul ref={list} id={LIST_ID} role="listbox" aria-label={props.label} className="menu fade-in absolute inset-x-0 bottom-full mb-1.5 max-h-64 max-w-none">
      {props.found.map(({ value, label, detail, kind }, index) => (
        <li
          key={value}
          id={`${LIST_ID}-${index}`}
          role="option"
          aria-selected={index === props.chosen}
          data-highlighted={index === props.chosen ? "" : undefined}
          className="menu-item"
          onPointerDown={(event) => {
            event.preventDefault(); // the field keeps the focus
            props.onChoose(value);
          }}
        >
          {kind !== "command" && <span className="text-faint">{kind === "folder" ? <FolderIcon size={14} /> : <FileIcon size={14} />}</span>}
          <span className={kind === "command" ? "shrink-0 font-mono text-[13px]" : "truncate font-mono text-[13px]"}>{label}</span>
          {detail && <span className="truncate text-xs text-faint">{detail}</span>}
        </li>
      ))}
    </ul>
  );
}
