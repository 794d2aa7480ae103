const DEEP = /(?:> ?){50}|(?:[-*+] ){50}|(?:\d{1,9}[.)] ){50}/;
const MOST_CHARS = 16_000;

/** Whether a text is too much for the parser, whose time grows with the square of a paragraph and of the depth of quotes and
 * lists. Nobody writes such a text for people to read; it is shown as it is. */
export function isTooMuch(text: string): boolean {
  if (DEEP.test(text)) return true;
  return text.length > MOST_CHARS && text.split(/\n[ \t]*\n/).some((each) => each.length > MOST_CHARS && !each.includes("```"));
}
