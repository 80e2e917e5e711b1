// Takes files that are dropped anywhere on the page.

import { notifications } from "@mantine/notifications";
import { FileUp } from "lucide-react";
import { useEffect, useState } from "react";
import classes from "./files.module.css";

export function DropZone({ onDrop }: { onDrop(files: readonly File[]): void }) {
  const [isOver, setIsOver] = useState(false);
  useEffect(() => {
    const over = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      // Without this the browser opens a dropped file in place of the console.
      event.preventDefault();
      setIsOver(true);
    };
    const leave = (event: DragEvent) => event.relatedTarget === null && setIsOver(false);
    const drop = (event: DragEvent) => {
      setIsOver(false);
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      const { files, folders } = droppedIn(event.dataTransfer);
      if (folders > 0)
        notifications.show({ color: "orange", message: "Folders are left out. Drop the files in them." });
      if (files.length > 0) onDrop(files);
    };
    const listening = new AbortController();
    addEventListener("dragover", over, listening);
    addEventListener("dragleave", leave, listening);
    addEventListener("drop", drop, listening);
    return () => listening.abort();
  }, [onDrop]);
  if (!isOver) return null;
  return (
    <div className={classes["drop"]} role="status">
      <FileUp size={30} aria-hidden />
      Drop the files to upload them
    </div>
  );
}

/** A folder is a file for the browser, but one that it cannot read. */
function droppedIn({ items }: DataTransfer): { readonly files: readonly File[]; readonly folders: number } {
  const entries = [...items].filter(({ kind }) => kind === "file");
  const files = entries.filter((item) => item.webkitGetAsEntry()?.isDirectory !== true);
  return {
    files: files.flatMap((item) => item.getAsFile() ?? []),
    folders: entries.length - files.length,
  };
}
