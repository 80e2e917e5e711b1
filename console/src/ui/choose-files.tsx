// A control that chooses files. The same file can be chosen again: it may have changed, or have failed.
import { FileButton, type FileButtonProps } from "@mantine/core";
import { useRef } from "react";

interface ChooseFilesProps extends Pick<FileButtonProps, "children"> {
  /** Whether a person may choose several files; one by default. */
  readonly multiple?: boolean;
  /** The label of the input; the control has its own. */
  readonly label?: string;
  /** At least one file. */
  onChoose(files: readonly File[]): void;
}

export function ChooseFiles({ multiple = false, label, onChoose, children }: ChooseFilesProps) {
  const reset = useRef<() => void>(null);
  const choose = (chosen: File[] | File | null) => {
    // Browsers report only another choice than the one in the input.
    reset.current?.();
    const files = [chosen ?? []].flat();
    if (files.length > 0) onChoose(files);
  };
  return (
    <FileButton multiple={multiple} resetRef={reset} inputProps={{ "aria-label": label }} onChange={choose}>
      {children}
    </FileButton>
  );
}
