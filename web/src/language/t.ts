// What the page says itself, in the language of the browser. Texts of the contract are shown as they come.
// Each JSON file beside this one holds the texts of one language by the English ones, which are in the code.

const FILES = import.meta.glob<Record<string, string>>("./*.json", { eager: true, import: "default" });

/** The language of the browser if there is a file for it, otherwise English. */
function languageOf(browser: string | undefined): string {
  const language = browser?.slice(0, 2).toLowerCase() ?? "";
  return fileOf(language) in FILES ? language : "en";
}

function fileOf(language: string): string {
  return `./${language}.json`;
}

export const LANGUAGE = languageOf(navigator.language);
const TEXTS = FILES[fileOf(LANGUAGE)] ?? {};

/** A sentence of the server in the language of the page, if it is there. */
export function inLanguage(english: string, retold: Record<string, string> | undefined): string {
  return retold?.[LANGUAGE] ?? english;
}

/** A text that the server declares in all its languages, in the language of the page. */
export function inPageLanguage(texts: { en: string } & Record<string, string>): string {
  return texts[LANGUAGE] ?? texts.en;
}

/** The text in the language of the page; `{name}` stands for a value. */
export function t(english: string, values: Record<string, string | number> = {}): string {
  const text = TEXTS[english] ?? english;
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => (name in values ? String(values[name]) : whole));
}
