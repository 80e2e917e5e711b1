// Loaded before the generator of odata2ts: it asks for the compiler's names, which TypeScript 7 no longer has,
// and brings along a compiler that has them.
import { registerHooks } from "node:module";

registerHooks({
  resolve: (name, context, next) =>
    next(name === "typescript" ? "@ts-morph/common/dist/typescript.js" : name, context),
});
