import { type FormEvent, useState } from "react";
import { linkSecret, signIn } from "../connection/token";
import { connect } from "../connection/socket";
import { t } from "../language/t";
import { dispatch, useStore } from "../store";

/** Without a token that the server accepts, there is nothing to show. An app window has no address bar: the link can be
 * pasted here. */
export function SignedOut() {
  const notices = useStore((state) => state.notices);
  const [link, setLink] = useState("");
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const problem = await signIn(linkSecret(link) ?? link.trim());
    if (problem) dispatch({ kind: "told", text: problem });
    else {
      for (const each of notices) dispatch({ kind: "dismissed", id: each.id });
      connect();
    }
  };
  return (
    <main className="grid h-full place-items-center px-6">
      <div className="w-full max-w-md">
        <h1 className="mb-2 text-lg font-semibold">{t("This tab is not signed in")}</h1>
        {notices.map((each) => (
          <p key={each.id} role="alert" className="mb-2 text-bad">
            {each.text}
          </p>
        ))}
        <p className="text-soft">
          {t("Run this in a terminal, and open the link that it prints. A link works once.")}
        </p>
        <pre className="code-block mt-3 px-3.5 py-2.5 font-mono text-sm">coder web</pre>
        <form className="mt-3 flex gap-2" onSubmit={(event) => void submit(event)}>
          <input
            className="field font-mono text-[13px]"
            value={link}
            spellCheck={false}
            placeholder={`${location.origin}/#link=…`}
            aria-label={t("Link")}
            onChange={(event) => setLink(event.target.value)}
          />
          <button type="submit" className="button primary" disabled={!link.trim()}>
            {t("Sign in")}
          </button>
        </form>
      </div>
    </main>
  );
}
