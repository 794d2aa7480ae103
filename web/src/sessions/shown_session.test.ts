import { expect, test, vi } from "vitest";

vi.stubGlobal("navigator", { language: "en" });
vi.stubGlobal("sessionStorage", { getItem: () => null, setItem: () => undefined });
const { shownAfter } = await import("./shown_session");
const { newSession } = await import("../state/state");

const row = (id: string, updatedAt = 1) => ({ id, title: id, status: "idle" as const, createdAt: 1, updatedAt });
const none = { byId: {}, rows: [], asks: [], waiting: 0 };

test("lists have nothing new while a session writes, and only its own line when it changes", () => {
  const sessions = { a: newSession(row("a", 2)), b: newSession(row("b", 1)) };
  const shown = shownAfter(none, { sessions })!;
  expect(shown.rows.map((each) => each.id)).toEqual(["a", "b"]);
  expect(shownAfter(shown, { sessions: { ...sessions, b: { ...sessions.b, writing: { isThinking: false, text: "x" } } } })).toBeNull();

  const running = shownAfter(shown, { sessions: { ...sessions, b: newSession({ ...row("b", 3), status: "running" }) } })!;
  expect(running.rows.map((each) => each.id)).toEqual(["b", "a"]);
  expect([running.byId.a === shown.byId.a, running.byId.b!.dot]).toEqual([true, "running"]);
  expect(shownAfter(running, { sessions: { a: sessions.a } })!.rows).toHaveLength(1);
});
