// The token is kept for this tab only. It comes from the one-time link that `coder web` prints.

const KEY = "token";

export function token(): string | null {
  return sessionStorage.getItem(KEY);
}

export function forgetToken(): void {
  sessionStorage.removeItem(KEY);
}

/** Exchange the secret of the link, if the page was opened with one. Returns why that failed, or null. */
export async function redeemLink(): Promise<string | null> {
  const secret = /^#link=([A-Za-z0-9_-]+)$/.exec(location.hash)?.[1];
  if (!secret) return null;
  history.replaceState(null, "", location.pathname);
  try {
    const answer = await fetch("/api/login", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ secret }),
    });
    const body = await answer.json();
    if (!answer.ok) return token() ? null : String(body.error);
    sessionStorage.setItem(KEY, body.token);
    return null;
  } catch {
    return token() ? null : "The server does not answer.";
  }
}
