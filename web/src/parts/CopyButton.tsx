import { useState } from "react";
import { t } from "../language/t";
import { CheckIcon, CopyIcon } from "./icons";

export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

export function CopyButton({ text, label }: { text: string; label?: string }) {
  const [isDone, setDone] = useState(false);
  const click = async () => {
    if (!(await copy(text))) return;
    setDone(true);
    window.setTimeout(() => setDone(false), 1500);
  };
  return (
    <button type="button" className="icon-button" aria-label={label ?? t("Copy")} title={label ?? t("Copy")} onClick={click}>
      {isDone ? <CheckIcon /> : <CopyIcon />}
    </button>
  );
}
