// What the page says itself, in the language of the browser. Texts of the contract are shown as they come.

import { CHINESE } from "./zh";

export const LANGUAGE: "en" | "zh" = navigator.language?.toLowerCase().startsWith("zh") ? "zh" : "en";

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
  const text = LANGUAGE === "zh" ? (CHINESE[english] ?? english) : english;
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => (name in values ? String(values[name]) : whole));
}
