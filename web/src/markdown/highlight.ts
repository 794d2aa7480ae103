// Code highlighting, loaded with the first code block.

import type { Root } from "hast";

type Highlight = (language: string, code: string) => Root | null;

let loaded: Promise<Highlight> | undefined;
const MOST_CHARS = 60_000;

export function loadHighlight(): Promise<Highlight> {
  loaded ??= import("./languages").then(({ lowlight }) => (language, code) => {
    if (!lowlight.registered(language) || code.length > MOST_CHARS) return null;
    return lowlight.highlight(language, code);
  });
  return loaded;
}
