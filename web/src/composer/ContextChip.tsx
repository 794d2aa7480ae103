import type { IdeContext } from "../contract/client_events";
import { t } from "../language/t";
import { CloseIcon, FileIcon } from "../parts/icons";

/** The file or the lines that go with the message. */
export function ContextChip({ context, onRemove }: { context: IdeContext; onRemove: () => void }) {
  const { selection, activeFile } = context;
  const path = selection?.filePath ?? activeFile?.path ?? "";
  const name = selection?.fileName || activeFile?.name || path.split("/").pop() || path;
  const lines = selection ? `:${selection.lineStart}–${selection.lineEnd}` : "";
  return (
    <div className="flex px-1.5 pt-1.5">
      <span className="flex min-w-0 items-center gap-1.5 rounded-md bg-hover py-0.5 pr-0.5 pl-2 text-xs text-soft" title={selection?.text ?? path} data-context>
        <FileIcon size={12} />
        <span className="truncate">
          {name}
          {lines}
        </span>
        <button type="button" className="icon-button size-5" aria-label={t("Remove {name} from the message", { name: name + lines })} onClick={onRemove}>
          <CloseIcon size={10} />
        </button>
      </span>
    </div>
  );
}
