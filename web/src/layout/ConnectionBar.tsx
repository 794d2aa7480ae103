import { connect } from "../connection/socket";
import { t } from "../language/t";
import { useStore } from "../store";

export function ConnectionBar() {
  const connection = useStore((state) => state.connection);
  if (connection !== "lost") return null;
  return (
    <div role="status" className="flex items-center justify-center gap-3 bg-warn-soft px-4 py-1.5 text-sm text-warn">
      <span>{t("Connection to the server lost. Trying again; what you type is kept.")}</span>
      <button type="button" className="underline underline-offset-2" onClick={connect}>
        {t("Try now")}
      </button>
    </div>
  );
}
