import { t } from "../language/t";
import type { Input } from "../state/items";

interface Todo {
  content?: string;
  status?: string;
}

export function todosOf(input: Input): Todo[] {
  return Array.isArray(input.todos) ? input.todos.filter((each) => each && typeof each === "object") : [];
}

export function Todos({ input }: { input: Input }) {
  return (
    <ul className="mt-1 space-y-0.5 text-sm" aria-label={t("Todos")}>
      {todosOf(input).map((each, index) => {
        const mark = each.status === "completed" ? "✓" : each.status === "in_progress" ? "→" : "○";
        const tone = each.status === "completed" ? "text-faint" : each.status === "in_progress" ? "" : "text-soft";
        return (
          <li key={index} className={`flex gap-2 ${tone}`}>
            <span className="w-3 shrink-0 text-faint" aria-label={each.status}>
              {mark}
            </span>
            <span className={each.status === "completed" ? "line-through" : ""}>{String(each.content ?? "")}</span>
          </li>
        );
      })}
    </ul>
  );
}
