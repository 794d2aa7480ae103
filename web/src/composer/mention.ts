/** The word at the cursor that can be completed: an `@path`, or the `/command` that the text begins with. */
export interface Mention {
  kind: "file" | "command";
  start: number;
  typed: string;
}

/** The word that ends at the cursor, or null. An `@` counts at the beginning of a word only. */
export function mentionAt(text: string, cursor: number): Mention | null {
  const before = text.slice(0, cursor);
  const command = /^\/([\w:-]*)$/.exec(before);
  if (command) return { kind: "command", start: 0, typed: command[1]! };
  const found = /(?:^|\s)@([^\s@]*)$/.exec(before);
  return found ? { kind: "file", start: cursor - found[1]!.length - 1, typed: found[1]! } : null;
}

/** The text with the word completed, and where the cursor stands then. A folder can be typed on. */
export function completed(text: string, mention: Mention, cursor: number, value: string): { text: string; cursor: number } {
  const end = value.endsWith("/") ? "" : " ";
  const inserted = `${mention.kind === "file" ? "@" : "/"}${value}${end}`;
  const rest = text.slice(cursor);
  return {
    text: text.slice(0, mention.start) + inserted + (end && rest.startsWith(" ") ? rest.slice(1) : rest),
    cursor: mention.start + inserted.length,
  };
}
