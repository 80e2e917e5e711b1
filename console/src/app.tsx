// The console: its providers, outermost first.
import { MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode, useState } from "react";
import { cspNonce } from "./api/base.ts";
import { ConnectionContext } from "./api/connection.ts";
import { openBackend } from "./api/queries.ts";
import { createConsoleRouter } from "./routes.tsx";
import { theme } from "./ui/theme.ts";

export function App() {
  const [{ queryClient, connection }] = useState(openBackend);
  const [router] = useState(() => createConsoleRouter(queryClient));
  return (
    <StrictMode>
      <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={cspNonce}>
        <Notifications position="bottom-right" />
        <ConnectionContext value={connection}>
          <QueryClientProvider client={queryClient}>
            <RouterProvider router={router} />
          </QueryClientProvider>
        </ConnectionContext>
      </MantineProvider>
    </StrictMode>
  );
}
