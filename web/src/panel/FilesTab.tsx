import { memo, useEffect, useMemo, useState } from "react";
import { send } from "../connection/socket";
import { t } from "../language/t";
import { ChevronIcon, FileIcon, FolderIcon, SearchIcon } from "../parts/icons";
import type { Session } from "../state/state";
import { FileViewer } from "./FileViewer";
import { matching, type TreeNode, treeOf } from "./file_tree";
import { useFiles } from "./use_files";

const MOST_FOUND = 100;

/** The files of the session's folder, and one of them. */
export function FilesTab({ session }: { session: Session }) {
  const [search, setSearch] = useState("");
  useFiles(session, true);
  const { files, file, row } = session;
  const tree = useMemo(() => treeOf(files?.paths ?? []), [files?.paths]);
  const open = (path: string) => send({ type: "files.read", payload: { sessionId: row.id, path } });
  useEffect(() => {
    if (file && files?.isStale) send({ type: "files.read", payload: { sessionId: row.id, path: file.path } });
  }, [file, files?.isStale, row.id]);
  if (file) return <FileViewer key={file.path} sessionId={row.id} file={file} />;
  const found = search ? matching(files?.paths ?? [], search, MOST_FOUND).filter((each) => !each.endsWith("/")) : null;
  return (
    <>
      <label className="relative m-3 mb-1 block text-faint">
        <span className="absolute top-1/2 left-2.5 -translate-y-1/2">
          <SearchIcon size={14} />
        </span>
        <input
          type="search"
          value={search}
          placeholder={t("Find a file")}
          aria-label={t("Find a file")}
          className="w-full rounded-lg bg-hover py-1.5 pr-2 pl-8 text-sm text-ink"
          onChange={(event) => setSearch(event.target.value)}
        />
      </label>
      <div className="min-h-0 flex-1 overflow-y-auto px-2 py-1 text-sm">
        {found ? (
          <ul aria-label={t("Files")}>
            {found.map((path) => (
              <FileLine key={path} name={path} path={path} depth={0} onOpen={open} />
            ))}
          </ul>
        ) : (
          <Nodes nodes={tree} depth={0} onOpen={open} label={t("Files")} />
        )}
        {files && !(found ?? files.paths).length && (
          <p className="px-3 py-6 text-center text-faint">{search ? t("Nothing found") : t("The folder is empty")}</p>
        )}
        {files && !files.whole && <p className="px-2 py-2 text-xs text-faint">{t("There are too many files to list all of them.")}</p>}
      </div>
    </>
  );
}

type OnOpen = (path: string) => void;

const Nodes = memo(function Nodes({ nodes, depth, onOpen, label }: { nodes: TreeNode[]; depth: number; onOpen: OnOpen; label?: string }) {
  return (
    <ul aria-label={label}>
      {nodes.map((each) =>
        each.children === null ? (
          <FileLine key={each.path} name={each.name} path={each.path} depth={depth} onOpen={onOpen} />
        ) : (
          <FolderLine key={each.path} node={each} depth={depth} onOpen={onOpen} />
        ),
      )}
    </ul>
  );
});

function FolderLine({ node, depth, onOpen }: { node: TreeNode; depth: number; onOpen: OnOpen }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <li>
      <button type="button" aria-expanded={isOpen} className="tree-line" style={{ paddingLeft: `${0.5 + depth}rem` }} onClick={() => setOpen(!isOpen)}>
        <span className={`text-faint ${isOpen ? "rotate-90" : ""}`}>
          <ChevronIcon size={12} />
        </span>
        <FolderIcon size={14} />
        <span className="truncate">{node.name}</span>
      </button>
      {isOpen && <Nodes nodes={node.children ?? []} depth={depth + 1} onOpen={onOpen} />}
    </li>
  );
}

function FileLine({ name, path, depth, onOpen }: { name: string; path: string; depth: number; onOpen: OnOpen }) {
  return (
    <li>
      <button type="button" className="tree-line" style={{ paddingLeft: `${1.65 + depth}rem` }} title={path} onClick={() => onOpen(path)}>
        <span className="text-faint">
          <FileIcon size={14} />
        </span>
        <span className="truncate">{name}</span>
      </button>
    </li>
  );
}
