// The token comes from the one-time link that `coder web` prints. A tab keeps it until it is closed; the window of the
// installed app keeps it for the next start, because nobody gives it a link then.

import { LANGUAGE, t } from "../language/t";

const KEY = "token";

export function token(): string | null {
  return sessionStorage.getItem(KEY) ?? (isApp() ? localStorage.getItem(KEY) : null);
}

export function forgetToken(): void {
  sessionStorage.removeItem(KEY);
  localStorage.removeItem(KEY);
}

function keep(value: string): void {
  sessionStorage.setItem(KEY, value);
  if (isApp()) localStorage.setItem(KEY, value);
}

function isApp(): boolean {
  return window.matchMedia("(display-mode: standalone)").matches;
}

/** The secret in a link, or null. */
export function linkSecret(link: string): string | null {
  return /#link=([A-Za-z0-9_-]+)$/.exec(link.trim())?.[1] ?? null;
}

/** Exchange the secret of the link, if the page was opened with one. Returns why that failed, or null. */
export async function redeemLink(): Promise<string | null> {
  const secret = linkSecret(location.hash);
  if (!secret) return null;
  const problem = await signIn(secret);
  history.replaceState(null, "", location.pathname);
  return token() ? null : problem;
}

/** Exchange a secret for the token. Returns why that failed, or null. */
export async function signIn(secret: string): Promise<string | null> {
  try {
    const answer = await fetch("/api/login", {
      method: "POST",
      headers: { "content-type": "application/json", "accept-language": LANGUAGE },
      body: JSON.stringify({ secret }),
    });
    const body = await answer.json();
    if (!answer.ok) return String(body.error);
    keep(body.token);
    return null;
  } catch {
    return t("The server does not answer.");
  }
}
