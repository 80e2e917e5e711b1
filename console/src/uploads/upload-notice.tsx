// The progress of all uploads in the header of the frame, on every page.
import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Upload } from "lucide-react";
import { percentOf } from "./upload-progress.ts";
import { isUnfinished } from "./upload-queue.ts";
import { useUploads } from "./uploads-context.tsx";

export function UploadNotice() {
  const uploads = useUploads();
  if (!uploads.some(isUnfinished)) return null;
  const percent = percentOf(uploads);
  return (
    <Button
      variant="light"
      size="compact-md"
      fw={400}
      leftSection={<Upload size={15} aria-hidden />}
      aria-label={`Uploads, ${percent} percent`}
      renderRoot={(props) => <Link {...props} to="/files" />}
    >
      {percent} %
    </Button>
  );
}
