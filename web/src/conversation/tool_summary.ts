import { t } from "../language/t";
import type { ToolItem } from "../state/items";
import { todosOf } from "./Todos";

const KEYS = ["command", "file_path", "path", "pattern", "url", "description", "name", "query", "prompt"];

/** What a tool use is about, in one line. */
export function toolSummary({ name, input }: Pick<ToolItem, "name" | "input">, cwd: string): string {
  if (name === "TodoWrite") {
    const todos = todosOf(input);
    return t("{done} of {all} done", { done: todos.filter((each) => each.status === "completed").length, all: todos.length });
  }
  if (name === "AskUserQuestion") {
    const questions = input.questions as { question?: string }[] | undefined;
    return questions?.[0]?.question ?? "";
  }
  if (name === "ExitPlanMode") return t("A plan to approve");
  if (name === "Grep" && typeof input.path === "string") return `${String(input.pattern ?? "")}  ${within(input.path, cwd)}`;
  const key = KEYS.find((each) => typeof input[each] === "string" && input[each]);
  const value = key ? String(input[key]) : (Object.values(input).find((each) => typeof each === "string") as string | undefined);
  return within((value ?? "").split("\n", 1)[0]!, cwd);
}

/** The name of a tool for people: those that talk to them have names that only programs know. */
export function toolLabel(name: string): string {
  const labels: Record<string, string> = { AskUserQuestion: t("Question"), ExitPlanMode: t("Plan"), TodoWrite: t("Todos") };
  return labels[name] ?? name;
}

function within(path: string, cwd: string): string {
  return cwd && path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path;
}
