// Gives the pages the uploads of this window, which continue while one goes from page to page.
import { useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, use, useEffect, useState, useSyncExternalStore } from "react";
import { useProject } from "../session/session.ts";
import { isUnfinished, type Upload, UploadQueue } from "./upload-queue.ts";
import { warnBeforeUnload } from "./warn-before-unload.ts";

const UploadsContext = createContext<UploadQueue | null>(null);

export function UploadsProvider({ children }: { children: ReactNode }) {
  const project = useProject();
  const client = useQueryClient();
  const [queue] = useState(
    () => new UploadQueue(project, () => void client.invalidateQueries({ queryKey: ["files"] })),
  );
  useEffect(() => {
    void queue.open();
    const endWarning = warnBeforeUnload(() => queue.uploads().some(isUnfinished));
    return () => {
      endWarning();
      queue.close();
    };
  }, [queue]);
  return <UploadsContext value={queue}>{children}</UploadsContext>;
}

export const useUploadQueue = (): UploadQueue => use(UploadsContext)!;

export function useUploads(): readonly Upload[] {
  const queue = useUploadQueue();
  return useSyncExternalStore(queue.subscribe, queue.uploads);
}
