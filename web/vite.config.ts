import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

declare const process: { env: Record<string, string | undefined> };

const server = `http://127.0.0.1:${process.env.CODER_WEB_PORT ?? "8787"}`;

// The page goes into the Python package, which serves it. `npm run dev` serves it on PORT and passes the rest on to a
// `coder web --dev`.
export default defineConfig({
  plugins: [react(), tailwindcss()],
  base: "/",
  build: {
    outDir: "../src/coderelay/surfaces/web/static",
    emptyOutDir: true,
    assetsInlineLimit: 0, // the content security policy allows no inline script or style
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
  },
  server: {
    host: "localhost",
    port: Number(process.env.PORT ?? "10087"),
    strictPort: true,
    proxy: {
      "/api": { target: server, changeOrigin: true },
      "/healthz": { target: server, changeOrigin: true },
      "/events": { target: server, ws: true, changeOrigin: true },
    },
  },
});
