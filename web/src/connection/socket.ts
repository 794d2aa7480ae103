// The one WebSocket: connects, reconnects, and asks for what the state wants.

import type { ClientEvent } from "../contract/client_events";
import type { ServerEvent } from "../contract/server_events";
import { LANGUAGE } from "../language/t";
import { wanted } from "../state/reduce";
import { dispatch, useStore } from "../store";
import { isRefused } from "./api";
import { forgetToken, token } from "./token";

const FIRST_WAIT = 500;
const LONGEST_WAIT = 10_000;

let socket: WebSocket | null = null;
let wait = FIRST_WAIT;
let timer: number | undefined;

export function connect(): void {
  window.clearTimeout(timer);
  if (!token() || (socket && socket.readyState <= WebSocket.OPEN)) return;
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const opened = new WebSocket(`${scheme}://${location.host}/events`, ["coder.v1.batch", "coder.v1", `bearer.${token()}`, `lang.${LANGUAGE}`]);
  socket = opened;
  opened.onopen = () => {
    wait = FIRST_WAIT;
    dispatch({ kind: "opened" });
    requestWanted();
  };
  opened.onmessage = (message) => {
    const read: unknown = JSON.parse(message.data);
    received.push(...((Array.isArray(read) ? read : [read]) as ServerEvent[]));
    schedule();
  };
  opened.onclose = () => {
    if (socket !== opened) return;
    take();
    void reconnect();
  };
}

/** What came since the last frame is shown with the next one, however much it is. */
let received: ServerEvent[] = [];
let isScheduled = false;

function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  if (document.visibilityState === "visible") requestAnimationFrame(take);
  else window.setTimeout(take, 100); // a hidden page has no frames
}

function take(): void {
  isScheduled = false;
  if (!received.length) return;
  const events = received;
  received = [];
  dispatch({ kind: "received", events, at: Date.now() });
  requestWanted();
}

/** Send an event. Returns false if there is no connection; nothing is sent later in its place. */
export function send(event: ClientEvent): boolean {
  if (socket?.readyState !== WebSocket.OPEN) return false;
  socket.send(JSON.stringify(event));
  return true;
}

/** Ask for whatever the state lacks. Called whenever it may have changed. */
export function requestWanted(): void {
  const { list, histories, follows } = wanted(useStore.getState());
  if (!list && !histories.length && !follows.length) return;
  if (list) send({ type: "session.list", payload: {} });
  for (const { row, cursor } of follows)
    send({ type: "session.follow", payload: { sessionId: row.id, afterSeq: cursor.seq, afterPart: cursor.part } });
  for (const sessionId of histories) send({ type: "session.history", payload: { sessionId } });
  dispatch({ kind: "requested", histories, follows: follows.map((each) => each.row.id) });
}

async function reconnect(): Promise<void> {
  dispatch({ kind: "lost" });
  if (await isRefused()) {
    forgetToken();
    dispatch({ kind: "refused" });
    return;
  }
  timer = window.setTimeout(connect, wait);
  wait = Math.min(wait * 2, LONGEST_WAIT);
}

window.addEventListener("online", connect);
document.addEventListener("visibilitychange", () => {
  take();
  if (document.visibilityState === "visible" && useStore.getState().connection === "lost") connect();
});
