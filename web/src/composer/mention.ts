/** The `@path` that is being typed at the cursor. */
export interface Mention {
  start: number;
  typed: string;
}

/** The mention that ends at the cursor, or null. An `@` counts at the beginning of a word only. */
export function mentionAt(text: string, cursor: number): Mention | null {
  const found = /(?:^|\s)@([^\s@]*)$/.exec(text.slice(0, cursor));
  return found ? { start: cursor - found[1]!.length - 1, typed: found[1]! } : null;
}

/** The text with the mention completed, and where the cursor stands then. A folder can be typed on. */
export function completed(text: string, mention: Mention, cursor: number, path: string): { text: string; cursor: number } {
  const end = path.endsWith("/") ? "" : " ";
  const inserted = `@${path}${end}`;
  const rest = text.slice(cursor);
  return {
    text: text.slice(0, mention.start) + inserted + (end && rest.startsWith(" ") ? rest.slice(1) : rest),
    cursor: mention.start + inserted.length,
  };
}
