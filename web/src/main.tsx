import { createRoot } from "react-dom/client";
import { connect } from "./connection/socket";
import { redeemLink, token } from "./connection/token";
import { LANGUAGE } from "./language/t";
import { App } from "./layout/App";
import { Broken } from "./layout/Broken";
import { applyTheme } from "./layout/theme";
import { ErrorBoundary } from "./parts/ErrorBoundary";
import { followLinks } from "./sessions/linked_session";
import { dispatch } from "./store";
import "./style.css";

document.documentElement.lang = LANGUAGE;
applyTheme();
createRoot(document.getElementById("root")!).render(
  <ErrorBoundary fallback={<Broken />}>
    <App />
  </ErrorBoundary>,
);

followLinks((id) => dispatch({ kind: "selected", id }));
const problem = await redeemLink();
if (token()) connect();
else dispatch({ kind: "refused" });
if (problem) dispatch({ kind: "told", text: problem });
