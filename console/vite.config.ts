// Builds the console into console/dist, which the server serves at its root.
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// The server writes <base href> into index.html, so that relative addresses work below any base path.
const config = defineConfig({
  root: import.meta.dirname,
  base: "./",
  plugins: [react()],
  build: {
    outDir: "dist",
    emptyOutDir: true,
    assetsDir: "static",
    target: "es2023",
    sourcemap: false,
    // The library that draws PDF has 1.6 MB, and is loaded for a drawing alone.
    chunkSizeWarningLimit: 1_700,
    license: { fileName: "licenses.md" },
  },
});
// biome-ignore lint/style/noDefaultExport: Vite reads the default export.
export default config;
