// A link to one session: `…/#session=ID`, as the cards of a chat have it.

/** The session that a fragment names, or null. */
export function linkedSession(fragment: string): string | null {
  return /^#session=([A-Za-z0-9-]{1,64})$/.exec(fragment)?.[1] ?? null;
}

/** Tell the session of the page's address, now and whenever a link changes it. */
export function followLinks(select: (id: string) => void): void {
  const follow = () => {
    const id = linkedSession(location.hash);
    if (!id) return;
    history.replaceState(null, "", location.pathname);
    select(id);
  };
  addEventListener("hashchange", follow);
  follow();
}
