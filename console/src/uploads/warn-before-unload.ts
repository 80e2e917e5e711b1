// The browser warns before it closes the page in the middle of an upload.

/** Returns the function that ends the warning. */
export function warnBeforeUnload(isUploading: () => boolean): () => void {
  const warn = (event: BeforeUnloadEvent) => {
    if (isUploading()) event.preventDefault();
  };
  addEventListener("beforeunload", warn);
  return () => removeEventListener("beforeunload", warn);
}
