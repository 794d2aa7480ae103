// The bare page: lists the sessions, shows the events of the selected one as they come, and answers asks.
// All text goes through textContent. The token is kept for this tab only.

const MOST_EVENTS = 2000;
const status = document.getElementById("status");
const sessionList = document.getElementById("sessions");
const eventList = document.getElementById("events");
const askList = document.getElementById("asks");

const sessions = new Map();
const asks = new Map();
let selected = null;
let socket = null;
let waitSeconds = 0.5;

start();

async function start() {
  const found = /^#link=([A-Za-z0-9_-]+)$/.exec(location.hash);
  if (found) {
    history.replaceState(null, "", location.pathname);
    const token = await exchange(found[1]);
    if (token) sessionStorage.setItem("token", token);
  }
  if (sessionStorage.getItem("token")) connect();
  else if (!found) tell("Open the link that `coder web` prints in the terminal.");
}

async function exchange(secret) {
  try {
    const answer = await fetch("/api/login", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ secret }),
    });
    const body = await answer.json();
    if (answer.ok) return body.token;
    tell(body.error);
  } catch {
    tell("The server does not answer.");
  }
  return null;
}

function connect() {
  const address = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/events`;
  socket = new WebSocket(address, ["coder.v1.batch", "coder.v1", `bearer.${sessionStorage.getItem("token")}`]);
  socket.onopen = () => {
    waitSeconds = 0.5;
    tell("connected");
    send("session.list", {});
    if (selected) show(selected);
  };
  socket.onmessage = (message) => {
    const received = JSON.parse(message.data);
    for (const event of Array.isArray(received) ? received : [received]) take(event);
  };
  socket.onclose = reconnect;
}

async function reconnect() {
  tell("disconnected; trying again …");
  setTimeout(async () => {
    if (await isRefused()) {
      sessionStorage.removeItem("token");
      tell("The token is no longer valid. Open the link that `coder web` prints in the terminal.");
    } else connect();
  }, waitSeconds * 1000);
  waitSeconds = Math.min(waitSeconds * 2, 10);
}

async function isRefused() {
  try {
    const token = sessionStorage.getItem("token");
    const answer = await fetch("/api/recent-cwds?limit=1", { headers: { authorization: `Bearer ${token}` } });
    return answer.status === 401;
  } catch {
    return false; // the server is away
  }
}

function send(type, payload) {
  socket.send(JSON.stringify({ type, payload }));
}

function take({ type, payload }) {
  if (type === "session.list") {
    sessions.clear();
    for (const each of payload.sessions) sessions.set(each.id, each);
    drawSessions();
    const newest = [...sessions.values()].sort((a, b) => b.updatedAt - a.updatedAt)[0];
    if (!selected && newest) show(newest.id);
    return;
  }
  if (type === "session.status") {
    sessions.set(payload.sessionId, { ...sessions.get(payload.sessionId), ...payload, id: payload.sessionId });
    drawSessions();
  } else if (type === "session.deleted") {
    sessions.delete(payload.sessionId);
    drawSessions();
  } else if (type === "permission.request") {
    asks.set(askKey(payload), payload);
    drawAsks();
  } else if (type === "permission.resolved") {
    asks.delete(askKey(payload));
    drawAsks();
  }
  if (!payload?.sessionId || payload.sessionId === selected) drawEvent(type, payload);
}

function askKey({ sessionId, toolUseId }) {
  return `${sessionId} ${toolUseId}`;
}

function show(id) {
  selected = id;
  eventList.replaceChildren();
  drawSessions();
  drawAsks();
  send("session.history", { sessionId: id });
}

function drawSessions() {
  sessionList.replaceChildren(
    ...[...sessions.values()].map((each) => {
      const button = make("button", each.title || each.id);
      button.setAttribute("aria-current", String(each.id === selected));
      button.append(make("small", `${each.status ?? ""} ${each.cwd ?? ""}`));
      button.onclick = () => show(each.id);
      const item = make("li");
      item.append(button);
      return item;
    }),
  );
}

function drawAsks() {
  askList.replaceChildren(
    ...[...asks.values()].filter((each) => each.sessionId === selected).map((ask) => {
      const box = make("div");
      box.className = "ask";
      box.append(make("p", `${ask.toolName} asks for permission`), make("pre", JSON.stringify(ask.input, null, 2)));
      for (const behavior of ["allow", "deny"]) {
        const button = make("button", behavior);
        button.onclick = () => answer(ask, behavior);
        box.append(button, " ");
      }
      return box;
    }),
  );
}

function answer({ sessionId, toolUseId, input }, behavior) {
  const result = behavior === "allow" ? { behavior, updatedInput: input } : { behavior };
  send("permission.response", { sessionId, toolUseId, result });
}

function drawEvent(type, payload) {
  const item = make("li");
  item.append(make("pre", `${type} ${JSON.stringify(payload, null, 1)}`));
  const isAtEnd = eventList.parentElement.scrollTop + eventList.parentElement.clientHeight >=
    eventList.parentElement.scrollHeight - 40;
  eventList.append(item);
  while (eventList.childElementCount > MOST_EVENTS) eventList.firstElementChild.remove();
  if (isAtEnd) item.scrollIntoView({ block: "end" });
}

function make(name, text = "") {
  const element = document.createElement(name);
  element.textContent = text;
  return element;
}

function tell(text) {
  status.textContent = text;
}
