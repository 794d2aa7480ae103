// A server in a few lines sends a random log to the page; the connection is cut anywhere and followed again. What the
// page shows at the end must be what a page shows that was never cut, and what a page shows that comes at the end.

import { expect, it } from "vitest";
import type { ServerEvent } from "../contract/server_events";
import { reduce, wanted } from "./reduce";
import { INITIAL, type State } from "./state";

const ROUNDS = 400;

interface Entry {
  events: ServerEvent[]; // of one number in the log
  rows: object[]; // what a history has of it
}

class Random {
  constructor(private seed: number) {}
  next(most: number): number {
    this.seed = (Math.imul(this.seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((this.seed / 2 ** 32) * most);
  }
}

/** A log of a session: prompts, texts, tool uses with asks and results. Numbers without events are left out. */
function randomLog(random: Random): Entry[] {
  const log: Entry[] = [];
  let open: { tool: string; isAsked: boolean }[] = [];
  const add = (rows: object[], ...events: [string, object][]) => {
    if (!random.next(4)) log.push({ events: [], rows: [] });
    const seq = log.length + 1;
    const place = (part: number) => (events.length === 1 ? { seq } : { seq, part, parts: events.length });
    const made = events.map(([type, payload], part) => ({ type, payload: { sessionId: "a", ...payload, ...place(part) } }));
    log.push({ rows, events: made });
  };
  const said = (message: object): [string, object] => ["stream.message", { message }];
  for (let turn = 0; turn < 1 + random.next(3); turn++) {
    const prompt = `prompt ${turn}`;
    add(
      [{ type: "user_prompt", prompt }],
      ["session.status", { status: "running", title: "t" }],
      ["stream.user_prompt", { prompt, promptId: `p${turn}` }],
    );
    for (let step = 0; step < random.next(6); step++) {
      const tool = `t${turn}.${step}`;
      const isAsked = !!random.next(2);
      const message = {
        type: "assistant",
        message: { content: [{ type: "text", text: `text ${tool}` }, { type: "tool_use", id: tool, name: "Bash", input: {} }] },
      };
      const ask: [string, object] = ["permission.request", { askId: tool, toolUseId: tool, toolName: "Bash", input: {} }];
      add([message], said(message), ...(isAsked ? [ask] : []));
      open.push({ tool, isAsked });
      if (!random.next(3)) continue;
      for (const each of open) {
        if (each.isAsked)
          add([], ["permission.resolved", { askId: each.tool, toolUseId: each.tool, behavior: "allow", by: "b", via: "web" }]);
        const result = {
          type: "user",
          message: { content: [{ type: "tool_result", tool_use_id: each.tool, content: "ok", is_error: false }] },
        };
        add([result], said(result));
      }
      open = [];
    }
  }
  return log;
}

function receive(state: State, ...events: ServerEvent[]): State {
  return reduce(state, { kind: "received", events, at: 1 });
}

/** Connects a page to a server whose log has `until` entries by then. */
function connect(state: State, log: Entry[], until: number): State {
  const row = { id: "a", title: "t", status: "idle", createdAt: 1, updatedAt: 1, seq: until, openAsks: 1 };
  let page = reduce(reduce(state, { kind: "opened" }), { kind: "requested", histories: [], follows: [] });
  page = receive(page, { type: "session.list", payload: { sessions: [row] } });
  const { histories, follows } = wanted(page);
  page = reduce(page, { kind: "requested", histories, follows: follows.map((each) => each.row.id) });
  for (const { cursor } of follows) {
    const replayed = log.slice(cursor.seq, until).flatMap((each) => each.events);
    page = receive(page, { type: "session.following", payload: { sessionId: "a" } }, ...replayed.slice(cursor.part));
  }
  if (histories.length) {
    const seen = log.slice(0, until);
    const resolved = new Set(seen.flatMap((each) => each.events).filter((each) => each.type === "permission.resolved").map((each) => each.payload.askId));
    const asks = seen.flatMap((each) => each.events).filter((each) => each.type === "permission.request" && !resolved.has(each.payload.askId));
    const messages = seen.flatMap((each) => each.rows);
    const decisions = seen.flatMap((each) => each.events).filter((each) => each.type === "permission.resolved").map((each) => each.payload);
    page = receive(
      page,
      { type: "session.history", payload: { sessionId: "a", status: "running", messages, seq: until, session: row, decisions } },
      ...asks.map((each) => ({ ...each, payload: { ...each.payload, seq: undefined, part: undefined, parts: undefined } })),
    );
  }
  return page;
}

/** What a person sees: items without times, what was decided about them, and open asks. */
function seen(state: State): unknown {
  const { items, asks } = state.sessions.a!;
  const plain = items.map((each) => (each.kind === "tool" ? [each.id, each.status, each.resolution?.behavior] : [each.kind, "text" in each ? each.text : ""]));
  return { plain, asks: asks.map((each) => each.askId) };
}

it("shows the same however often a stream is cut and followed again", () => {
  for (let seed = 1; seed <= ROUNDS; seed++) {
    const random = new Random(seed);
    const log = randomLog(random);
    const whole = connect(INITIAL, log, log.length);
    let page = connect(INITIAL, log, random.next(log.length + 1));
    let at = page.sessions.a!.cursor.seq;
    while (at < log.length) {
      const frames = log.slice(at).flatMap((each) => each.events);
      const sent = frames.slice(0, random.next(frames.length + 1));
      page = receive(page, ...sent);
      if (random.next(2)) page = receive(page, ...sent.slice(-2)); // a repeat changes nothing
      at = Math.min(log.length, at + random.next(log.length - at + 1));
      page = connect(reduce(page, { kind: "lost" }), log, Math.max(at, page.sessions.a!.cursor.seq + (page.sessions.a!.cursor.part ? 1 : 0)));
      at = Math.max(at, page.sessions.a!.cursor.seq);
    }
    expect({ seed, ...(seen(page) as object) }).toEqual({ seed, ...(seen(whole) as object) });
  }
});
