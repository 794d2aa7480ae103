import { expect, it } from "vitest";
import type { ServerEvent } from "../contract/server_events";
import { reduce } from "./reduce";
import { INITIAL, type State } from "./state";

const event = (type: string, payload: object = {}): ServerEvent => ({ type, payload: { sessionId: "a", ...payload } });
const run = (state: State, ...events: ServerEvent[]) => reduce(state, { kind: "received", events, at: 1 });
const row = { id: "a", title: "a", status: "idle", createdAt: 1, updatedAt: 1 };
const history = (...messages: object[]) => event("session.history", { status: "idle", messages, seq: 5, session: row });
const open = run(reduce(INITIAL, { kind: "opened" }), { type: "session.list", payload: { sessions: [row] } }, history());
const turn = { turnId: "t1", prompt: "go", at: 1, changes: [] };

it("files and turns are stale when a turn has ended, and after an undo", () => {
  const known = run(open, event("files.list", { paths: ["a.txt"], whole: true }), event("turns.list", { turns: [turn], limit: 1 }));
  expect([known.sessions.a!.files!.isStale, known.sessions.a!.turns!.isStale]).toEqual([false, false]);

  const ended = run(known, event("session.status", { status: "completed", seq: 6 }));
  expect([ended.sessions.a!.files!.isStale, ended.sessions.a!.turns!.isStale]).toEqual([true, true]);
  expect(ended.sessions.a!.files!.paths).toEqual(["a.txt"]); // shown until the new ones are there

  const undone = run(known, event("turn.undone", { turnId: "t1", seq: 6 }));
  expect(undone.sessions.a!.turns!.isStale).toBe(true);
});

it("an undo is told alike when it happens and in a history, with what was left alone", () => {
  const files = { restored: ["b.txt"], removed: ["c.txt"], conflicts: ["d.txt: changed since"] };
  const live = run(open, event("turn.undone", { turnId: "t1", seq: 6, ...files }));
  const later = run(open, history({ type: "system", subtype: "turn_undone", ...files }));

  expect(live.sessions.a!.items).toEqual(later.sessions.a!.items);
  expect(live.sessions.a!.items).toMatchObject([{ line: "undone", text: "b.txt\nc.txt", detail: "d.txt: changed since" }]);
});

it("a prompt has its images, live and in a history", () => {
  const said = { prompt: "look", promptId: "p1", images: 2 };
  const live = run(open, event("stream.user_prompt", { ...said, seq: 6 }));
  const later = run(open, history({ type: "user_prompt", ...said }));

  for (const each of [live, later]) expect(each.sessions.a!.items).toMatchObject([{ text: "look", promptId: "p1", images: 2 }]);
});

it("a session waits for a host until something happens in it", () => {
  const waiting = run(open, event("session.waiting", { reason: "coder resume continues it" }));
  expect(waiting.sessions.a!.row.waiting).toBe("coder resume continues it");
  expect(run(waiting, event("session.waiting", { reason: null })).sessions.a!.row.waiting).toBeUndefined();
  expect(run(waiting, event("session.status", { status: "running", seq: 6 })).sessions.a!.row.waiting).toBeUndefined();
});

it("what an editor shows is known until it shows nothing, and refusals are in the language of the page", () => {
  const context = { activeFile: { path: "a.py", name: "a.py" }, selection: null };
  const shown = run(open, { type: "ide.context", payload: context });
  expect(shown.ide).toEqual(context);
  expect(run(shown, { type: "ide.context", payload: { activeFile: null, selection: null } }).ide).toBeNull();

  const refused = { type: "runner.error", payload: { message: "no such folder", retold: { zh: "没有这个文件夹" } } };
  expect(run({ ...open, language: "zh" }, refused).notices[0]!.text).toBe("没有这个文件夹");
  expect(run(open, refused).notices[0]!.text).toBe("no such folder");
});

it("a session that is deleted elsewhere is told, one that is deleted here is not", () => {
  const deleted: ServerEvent = { type: "session.deleted", payload: { sessionId: "a" } };

  expect(run(open, deleted).notices).toMatchObject([{ kind: "deleted", text: "a" }]);
  expect(run(reduce(open, { kind: "deleting", sessionId: "a" }), deleted).notices).toEqual([]);
});
