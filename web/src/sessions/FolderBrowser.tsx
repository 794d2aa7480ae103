import { useEffect, useState } from "react";
import { type Folders, folders } from "../connection/api";
import { t } from "../language/t";
import { FolderIcon } from "../parts/icons";

/** Choose a folder of the server's machine; null if nothing was chosen. */
export function FolderBrowser({ start, onChoose }: { start: string; onChoose: (path: string | null) => void }) {
  const [path, setPath] = useState(start);
  const [found, setFound] = useState<Folders | null>(null);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let isOld = false;
    folders(path).then(
      (next) => {
        if (isOld) return;
        setFound(next);
        setProblem("");
      },
      (error: unknown) => {
        if (isOld) return;
        if (path) setPath(""); // begin where folders may be shown
        else setProblem(error instanceof Error ? error.message : String(error));
      },
    );
    return () => {
      isOld = true;
    };
  }, [path]);
  return (
    <div className="fade-in mt-2">
      <p className="truncate font-mono text-xs text-faint" title={found?.path}>
        {found?.path ?? "…"}
      </p>
      {problem && <p className="text-sm text-bad">{problem}</p>}
      <ul className="my-1 h-44 overflow-y-auto" aria-label={t("Folders")}>
        {found?.parent && <Line name=".." onOpen={() => setPath(found.parent!)} />}
        {found?.folders.map((name) => (
          <Line key={name} name={name} onOpen={() => setPath(joined(found.path, name))} />
        ))}
      </ul>
      <div className="flex justify-end gap-2">
        <button type="button" className="button plain" onClick={() => onChoose(null)}>
          {t("Cancel")}
        </button>
        <button type="button" className="button" disabled={!found} onClick={() => onChoose(found!.path)}>
          {t("Use this folder")}
        </button>
      </div>
    </div>
  );
}

function Line({ name, onOpen }: { name: string; onOpen: () => void }) {
  return (
    <li>
      <button type="button" className="flex w-full items-center gap-2 rounded-md px-2 py-0.5 text-left text-sm hover:bg-hover" onClick={onOpen}>
        <span className="text-faint">
          <FolderIcon size={14} />
        </span>
        <span className="truncate">{name}</span>
      </button>
    </li>
  );
}

function joined(folder: string, name: string): string {
  if (name.startsWith("/")) return name;
  return folder.endsWith("/") ? folder + name : `${folder}/${name}`;
}
