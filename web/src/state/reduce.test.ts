import { describe, expect, it } from "vitest";
import type { ServerEvent } from "../contract/server_events";
import { type Action, reduce, wanted } from "./reduce";
import { INITIAL, openAsks, type Session, type State } from "./state";

const AT = 1_000_000;

function run(state: State, ...actions: (Action | ServerEvent)[]): State {
  return actions.reduce<State>(
    (now, each) => reduce(now, each && "kind" in each ? each : { kind: "received", events: [each], at: AT }),
    state,
  );
}

function row(id: string, more: object = {}) {
  return { id, title: id, status: "idle", createdAt: 1, updatedAt: 1, seq: 5, ...more };
}

function event(type: string, payload: object): ServerEvent {
  return { type, payload: { sessionId: "a", ...payload } };
}

const list = (...rows: object[]): ServerEvent => ({ type: "session.list", payload: { sessions: rows } });
const history = (messages: object[] = [], more: object = {}) =>
  event("session.history", { status: "running", messages, seq: 5, session: row("a", { status: "running" }), ...more });
const use = (id: string, name = "Bash") => ({
  type: "assistant",
  message: { content: [{ type: "tool_use", id, name, input: { command: "make" } }] },
});
const result = (id: string, isError = false) => ({
  type: "user",
  message: { content: [{ type: "tool_result", tool_use_id: id, content: "out", is_error: isError }] },
});
const ask = (askId: string, more: object = {}) =>
  event("permission.request", { askId, toolUseId: askId, toolName: "Bash", input: {}, kind: "permission", ...more });
const requested = (state: State): State => {
  const { histories, follows } = wanted(state);
  return reduce(state, { kind: "requested", histories, follows: follows.map((each) => each.row.id) });
};
const shown = (session: Session) => session.items.map((each) => each.kind);
const open = run(INITIAL, { kind: "opened" });
const hydrated = run(open, list(row("a", { status: "running" })), history([{ type: "user_prompt", prompt: "go" }]));

describe("sessions", () => {
  it("selects the newest on the first list, and opens the dialog if there is none (B-18)", () => {
    expect(run(open, list(row("a", { updatedAt: 1 }), row("b", { updatedAt: 9 }))).selected).toBe("b");
    const empty = run(open, list());
    expect([empty.selected, empty.isNewSessionOpen]).toEqual([null, true]);
  });

  it("asks for a history once (B-19)", () => {
    const listed = run(requested(open), list(row("a")));
    expect(wanted(listed).histories).toEqual(["a"]);
    expect(wanted(requested(listed)).histories).toEqual([]);
    expect(wanted(run(requested(listed), history())).histories).toEqual([]);
  });

  it("asks for the histories of sessions with open asks, for the inbox", () => {
    const listed = run(open, list(row("a", { updatedAt: 9 }), row("b", { openAsks: 1 }), row("c")));
    expect(wanted(listed).histories).toEqual(["a", "b"]);
  });

  it("switches to a started session when it is accepted (B-21)", () => {
    const started = run(open, list(), { kind: "starting", requestId: "r" });
    const accepted = run(started, { type: "session.accepted", payload: { sessionId: "n", requestId: "r" } });
    expect([accepted.selected, accepted.starting, accepted.isNewSessionOpen]).toEqual(["n", null, false]);
  });

  it("tells in the dialog why a session did not start, and lets it be tried again", () => {
    const started = run(open, list(), { kind: "starting", requestId: "r" });
    const failed = run(started, { type: "runner.error", payload: { message: "no such folder", requestId: "r" } });
    expect([failed.starting, failed.startProblem, failed.notices, failed.isNewSessionOpen]).toEqual([null, "no such folder", [], true]);
  });

  it("keeps a selection that exists, and goes to the newest when its session is deleted", () => {
    const two = run(open, list(row("a", { updatedAt: 9 }), row("b")), { kind: "selected", id: "b" });
    expect(run(two, list(row("a", { updatedAt: 9 }), row("b"))).selected).toBe("b");
    expect(run(two, { type: "session.deleted", payload: { sessionId: "b" } }).selected).toBe("a");
  });

  it("keeps the conversations of some sessions at rest, and asks for the others again when they are shown", () => {
    const ids = Array.from({ length: 30 }, (_, index) => `s${index}`);
    const rows = ids.map((id, index) => row(id, { updatedAt: index, status: id === "s1" ? "running" : "idle" }));
    const known = ids.map((id) => ({ type: "session.history", payload: { sessionId: id, status: rows.find((each) => each.id === id)!.status, messages: [], seq: 5 } }));
    const all = run(open, list(...rows), ...known);
    const after = run(all, { kind: "selected", id: "s29" });
    const forgotten = Object.values(after.sessions).filter((each) => each.hydration === "none").map((each) => each.row.id);
    expect(forgotten).toEqual(["s0", "s2", "s3", "s4", "s5", "s6", "s7", "s8"]); // not s1, which runs
    expect(wanted(run(after, { kind: "selected", id: "s0" })).histories).toEqual(["s0"]);
  });

  it("learns of a session that another process started", () => {
    const state = run(open, list(), event("session.status", { status: "running", title: "new" }));
    expect([state.sessions.a!.row.title, wanted(state).list]).toEqual(["new", true]);
  });
});

describe("conversation", () => {
  it("pairs tool uses with their results, and keeps the status (B-29)", () => {
    const state = run(
      hydrated,
      event("stream.message", { message: use("t1"), seq: 6 }),
      event("stream.message", { message: use("t2"), seq: 7 }),
      event("stream.message", { message: result("t2", true), seq: 8 }),
    );
    const tools = state.sessions.a!.items.filter((each) => each.kind === "tool");
    expect(tools.map((each) => [each.id, each.status])).toEqual([
      ["t1", "pending"],
      ["t2", "error"],
    ]);
  });

  it("builds text from partial messages, and clears it when the block stops (B-27, B-57)", () => {
    const piece = (stream: object) => event("stream.message", { message: { type: "stream_event", event: stream } });
    const writing = run(
      hydrated,
      piece({ type: "content_block_start", content_block: { type: "text" } }),
      piece({ type: "content_block_delta", delta: { type: "text_delta", text: "Hel" } }),
      piece({ type: "content_block_delta", delta: { type: "text_delta", text: "lo" } }),
    );
    expect(writing.sessions.a!.writing?.text).toBe("Hello");
    expect(run(writing, piece({ type: "content_block_stop" })).sessions.a!.writing?.text).toBeUndefined();
  });

  it("goes on with a text whose pieces are in the history", () => {
    const start = { type: "stream_event", event: { type: "content_block_start", content_block: { type: "text" } } };
    const piece = (text: string) => ({ type: "stream_event", event: { type: "content_block_delta", delta: { type: "text_delta", text } } });
    const state = run(hydrated, history([start, piece("Hel")]), event("stream.message", { message: piece("lo"), seq: 6 }));
    expect(state.sessions.a!.writing?.text).toBe("Hello");
  });

  it("ignores unknown messages, events and malformed parts (B-19, B-55)", () => {
    const strange: unknown[] = [
      { type: "martian" },
      { type: "assistant" },
      { type: "assistant", message: { content: [null, 3, { type: "tool_use" }, { type: "hologram" }] } },
      { type: "user", message: { content: "text" } },
      null,
      7,
    ];
    const state = run(
      hydrated,
      ...strange.map((message) => event("stream.message", { message })),
      event("nobody.knows", { x: 1 }),
      { type: "statistics", payload: {} },
      {} as ServerEvent,
      null as unknown as ServerEvent,
    );
    expect(shown(state.sessions.a!)).toEqual(["prompt"]);
  });

  it("shows what a turn runs with once, and again when it changes (B-31)", () => {
    const init = (model: string) => ({ type: "system", subtype: "init", model, permissionMode: "default", cwd: "/x" });
    const state = run(hydrated, history([init("m1"), init("m1"), init("m2")]));
    expect(shown(state.sessions.a!)).toEqual(["init", "init"]);
  });

  it("has the error of a turn in other languages, live and from the history", () => {
    const failed = { type: "result", subtype: "error_during_execution", error: "no key" };
    const live = run(hydrated, event("stream.message", { message: failed, seq: 6 }), event("session.status", { status: "error", error: "no key", retold: { zh: "没有密钥" }, seq: 7 }));
    const later = run(hydrated, history([failed], { session: row("a", { status: "error", error: "no key", errorRetold: { zh: "没有密钥" } }) }));
    for (const state of [live, later]) {
      expect(state.sessions.a!.items.at(-1)).toMatchObject({ kind: "result", error: "no key", retold: { zh: "没有密钥" } });
      expect(state.sessions.a!.row.errorRetold).toEqual({ zh: "没有密钥" });
    }
  });

  it("shows what a child session did for a task", () => {
    const told = event("task.history", { toolUseId: "t", status: "completed", messages: [{ type: "user_prompt", prompt: "look" }, use("x")] });
    const state = run(hydrated, told);
    expect(state.tasks["a/t"]).toMatchObject({ status: "completed", items: [{ kind: "prompt", text: "look" }, { kind: "tool", id: "x" }] });
    expect(state.sessions).toBe(hydrated.sessions);
  });

  it("shows the queue until a prompt is taken, edited or recalled", () => {
    const queued = run(
      hydrated,
      event("prompt.queued", { promptId: "p1", prompt: "one", seq: 6 }),
      event("prompt.queued", { promptId: "p2", prompt: "two", seq: 7 }),
      event("prompt.edited", { promptId: "p2", prompt: "zwei", seq: 8 }),
    );
    expect(queued.sessions.a!.queue.map((each) => each.text)).toEqual(["one", "zwei"]);
    const taken = run(queued, event("stream.user_prompt", { promptId: "p1", prompt: "one", seq: 9 }));
    expect(run(taken, event("prompt.recalled", { promptId: "p2", seq: 10 })).sessions.a!.queue).toEqual([]);
  });
});

describe("asks", () => {
  it("removes an ask when it is resolved, and says by whom if it was elsewhere (B-32, X-11)", () => {
    const asked = run(hydrated, event("stream.message", { message: use("t"), seq: 6 }), ask("t", { seq: 7 }));
    expect(openAsks(asked.sessions.a!)).toBe(1);
    const resolved = event("permission.resolved", {
      askId: "t",
      toolUseId: "t",
      behavior: "allow",
      by: "ann",
      via: "terminal",
      seq: 8,
    });
    const elsewhere = run(asked, resolved).sessions.a!;
    expect(openAsks(elsewhere)).toBe(0);
    expect(elsewhere.items.at(-1)).toMatchObject({ resolution: { by: "ann", via: "terminal", mine: false } });
    const here = run(asked, { kind: "answered", askId: "t" }, resolved).sessions.a!;
    expect(here.items.at(-1)).toMatchObject({ resolution: { mine: true } });
  });

  it("knows from the history what was decided, and by whom", () => {
    const decisions = [{ toolUseId: "t", askId: "x", behavior: "deny", message: "no", by: "ann", via: "terminal" }];
    const state = run(hydrated, { kind: "answered", askId: "y" }, history([use("t"), use("u")], { decisions }));
    expect(state.sessions.a!.items.map((each) => each.kind === "tool" && each.resolution)).toMatchObject([
      { behavior: "deny", by: "ann", mine: false },
      undefined,
    ]);
  });

  it("knows the asks of sessions that are not shown", () => {
    const state = run(open, list(row("a")), ask("x"));
    expect(openAsks(state.sessions.a!)).toBe(1);
    expect(openAsks(run(state, history()).sessions.a!)).toBe(1); // the server does not send it twice
  });
});

describe("connection", () => {
  it("gives a prompt back that did not reach the server", () => {
    const images = [{ mimeType: "image/png", data: "AA==" }];
    const sent = run(hydrated, { kind: "sent", requestId: "r", sessionId: "a", text: "do it", images });
    expect(run(sent, { kind: "lost" }).returned).toEqual({ a: { text: "do it", images } });
    expect(run(sent, event("runner.error", { message: "no", requestId: "r" })).returned).toEqual({ a: { text: "do it", images } });
    expect(run(sent, event("runner.error", { message: "of a file" })).returned).toEqual({});
    const accepted = run(sent, { type: "session.accepted", payload: { sessionId: "a", requestId: "r" } });
    expect(run(accepted, { kind: "lost" }).returned).toEqual({});
  });

  it("lets an ask be answered again if the answer may not have arrived, or was refused", () => {
    const asked = run(hydrated, ask("x", { seq: 6 }), { kind: "answered", askId: "x" });
    expect(asked.answered).toEqual({ x: "sent" });
    expect(run(asked, { kind: "lost" }).answered).toEqual({ x: "unsure" });
    expect(run(asked, event("runner.error", { message: "no" })).answered).toEqual({ x: "unsure" });
    expect(run(asked, { type: "runner.error", payload: { message: "no", sessionId: "b" } }).answered).toEqual({ x: "sent" });
  });

  it("says that the selected session was deleted while the connection was away", () => {
    const away = run(hydrated, { kind: "lost" }, { kind: "opened" });
    const [gone, kept] = [run(away, list(row("b"))), run(away, { type: "session.list", payload: { sessions: [row("b")], whole: false } })];
    expect([gone.selected, gone.notices.map((each) => [each.kind, each.text])]).toEqual(["b", [["deleted", "a"]]]);
    expect([kept.selected, kept.notices]).toEqual(["a", []]);
    expect(run(away, { kind: "deleting", sessionId: "a" }, list(row("b"))).notices).toEqual([]);
  });

  it("follows after its cursor, and ignores what comes before that (nothing twice)", () => {
    const back = run(hydrated, { kind: "lost" }, { kind: "opened" });
    const listed = run(requested(back), list(row("a", { status: "running" })));
    expect(wanted(listed).follows.map((each) => each.cursor)).toEqual([{ seq: 5, part: 0 }]);
    const early = run(requested(listed), event("stream.user_prompt", { prompt: "x", seq: 6 }));
    expect(shown(early.sessions.a!)).toEqual(["prompt"]);
    const followed = run(
      early,
      event("session.following", { seq: 5 }),
      event("stream.user_prompt", { prompt: "x", seq: 6 }),
      event("session.followed", { seq: 6 }),
    );
    expect(shown(followed.sessions.a!)).toEqual(["prompt", "prompt"]);
  });

  it("begins with the history again if the log is not the one it knows", () => {
    const back = requested(run(requested(run(hydrated, { kind: "lost" }, { kind: "opened" })), list(row("a"))));
    const refused = run(back, event("runner.error", { message: "the log of the session ends at 3" }));
    expect([refused.notices, wanted(refused).histories]).toEqual([[], ["a"]]);
  });

  it("shows an error that concerns nobody's request as a notice, once (B-33)", () => {
    const error = { type: "runner.error", payload: { message: "Unknown session" } };
    const state = run(open, error, error);
    expect(state.notices.map((each) => each.text)).toEqual(["Unknown session"]);
    expect(run(state, { kind: "dismissed", id: state.notices[0]!.id }).notices).toEqual([]);
  });
});
