// Builds the console into console/dist, which the server serves at its root.
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** Sizes of style sheets follow the font size of the root element (src/ui/page-scale.ts); hairlines stay. */
const relativeSizes = (value: string): string =>
  value.replaceAll(/\b(\d*\.?\d+)px\b/g, (all, px) => (Number(px) > 2 ? `${Number(px) / 16}rem` : all));

// The server writes <base href> into index.html, so that relative addresses work below any base path.
const config = defineConfig({
  root: import.meta.dirname,
  base: "./",
  plugins: [react()],
  css: {
    postcss: {
      plugins: [
        {
          postcssPlugin: "relative-sizes",
          Declaration: (one) => {
            one.value = relativeSizes(one.value);
          },
        },
      ],
    },
  },
  build: {
    outDir: "dist",
    emptyOutDir: true,
    assetsDir: "static",
    target: "es2023",
    sourcemap: false,
    // The library that draws PDF has 1.6 MB, and is loaded for a drawing alone.
    chunkSizeWarningLimit: 1_700,
    rolldownOptions: {
      output: {
        // By default each set of modules that the same pages share is a file, some 50 for most pages. The
        // requests took a part of the load of each page, more than the bytes that few pages do not need.
        codeSplitting: {
          groups: [
            { name: "start", tags: ["$initial"], priority: 1 },
            { name: "shared", minShareCount: 8 },
          ],
        },
      },
    },
    license: { fileName: "licenses.md" },
  },
});
// biome-ignore lint/style/noDefaultExport: Vite reads the default export.
export default config;
