import { t } from "../language/t";

/** Instead of a page that cannot be drawn. Sessions go on, and drafts are kept. */
export function Broken() {
  return (
    <main className="grid h-full place-items-center px-6 text-center">
      <div role="alert">
        <p className="mb-4 text-soft">{t("The page has failed. Your sessions go on, and what you typed is kept.")}</p>
        <button type="button" className="button primary" onClick={() => location.reload()}>
          {t("Load it again")}
        </button>
      </div>
    </main>
  );
}
