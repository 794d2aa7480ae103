const LANGUAGES: Record<string, string> = {
  sh: "bash", bash: "bash", zsh: "bash", c: "c", h: "c", cc: "cpp", cpp: "cpp", hpp: "cpp", css: "css", diff: "diff",
  patch: "diff", go: "go", java: "java", js: "javascript", jsx: "javascript", mjs: "javascript", cjs: "javascript",
  json: "json", md: "markdown", py: "python", pyi: "python", rs: "rust", sql: "sql", ts: "typescript", tsx: "typescript",
  html: "xml", xml: "xml", svg: "xml", yml: "yaml", yaml: "yaml",
};

/** The language of a file, by the end of its name; empty if it is not known. */
export function languageOfPath(path: string): string {
  return LANGUAGES[path.split(".").pop()?.toLowerCase() ?? ""] ?? "";
}
