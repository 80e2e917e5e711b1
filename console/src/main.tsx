// Starts the console in the page.
import "@mantine/core/styles.layer.css";
import "@mantine/dates/styles.layer.css";
import "@mantine/notifications/styles.layer.css";
import "@mantine/spotlight/styles.layer.css";
import "./ui/base.css";
import "./ui/page-scale.ts";
import { createRoot } from "react-dom/client";
import { cspNonce } from "./api/base.ts";
import { App } from "./app.tsx";

// Dialogs stop the page from scrolling with a style element; its library takes the nonce from this name.
Object.assign(globalThis, { __webpack_nonce__: cspNonce() });

createRoot(document.getElementById("root")!).render(<App />);
