import { t } from "../language/t";
import { useStore } from "../store";

/** Without a token that the server accepts, there is nothing to show. */
export function SignedOut() {
  const notices = useStore((state) => state.notices);
  return (
    <main className="grid h-full place-items-center px-6">
      <div className="max-w-md">
        <h1 className="mb-2 text-lg font-semibold">{t("This tab is not signed in")}</h1>
        {notices.map((each) => (
          <p key={each.id} className="mb-2 text-bad">
            {each.text}
          </p>
        ))}
        <p className="text-soft">
          {t("Run this in a terminal, and open the link that it prints. A link works once.")}
        </p>
        <pre className="code-block mt-3 px-3.5 py-2.5 font-mono text-sm">coder web</pre>
      </div>
    </main>
  );
}
