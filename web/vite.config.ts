import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Where `npm run dev` of this folder finds a running orb; see README.md. */
const server = process.env["ORB_URL"] ?? "http://127.0.0.1:8000";

export default defineConfig({
  root: at("."),
  publicDir: at("public"),
  cacheDir: at("../node_modules/.cache/vite"),
  plugins: [react()],
  build: {
    outDir: process.env["ORB_WEB_OUT"] ?? at("../dist/web"),
    emptyOutDir: true,
    target: ["chrome123", "firefox121", "safari17.5"],
    // Files under this size would be written into the style sheet as data, which the content policy forbids for fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // Of React and the others that become part of the files.
    license: { fileName: "licences.md" },
  },
  server: {
    proxy: {
      // Whatever a browser does not ask for as a page, a module or a style is a call of the API.
      "^/(?!src/|@|node_modules/|assets/|frame|favicon).+": {
        target: server,
        changeOrigin: true,
        bypass: (request) => (request.headers.accept?.startsWith("text/html") === true ? "/index.html" : undefined),
      },
    },
  },
});
