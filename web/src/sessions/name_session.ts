import { suggestTitle } from "../connection/api";
import { send } from "../connection/socket";
import { useStore } from "../store";

/** Let a model name a session that this page has started. Until then, and if that fails, its prompt is its title. */
export function nameWhenStarted(requestId: string, prompt: string, cwd: string): void {
  const stop = useStore.subscribe((now, before) => {
    if (now.starting === requestId || before.starting !== requestId) return;
    stop();
    if (now.selected && !now.startProblem && !now.isNewSessionOpen) void name(now.selected, prompt, cwd);
  });
}

async function name(sessionId: string, prompt: string, cwd: string): Promise<void> {
  const first = provisional(prompt);
  try {
    const title = (await suggestTitle(prompt, cwd)).trim();
    const now = useStore.getState().sessions[sessionId]?.row.title;
    const isNamed = now === undefined || (now !== "" && now !== first); // by a person, meanwhile
    if (title && title !== first && !isNamed) send({ type: "session.configure", payload: { sessionId, title } });
  } catch {
    // the title from the prompt stays
  }
}

/** The title that the server gives: the first line of the prompt, 60 characters of it. */
function provisional(prompt: string): string {
  const line = prompt.trim().split("\n", 1)[0]!.trim().split(/\s+/).join(" ");
  return [...line].length <= 60 ? line : `${[...line].slice(0, 59).join("").trimEnd()}…`;
}
