// Saves text as a file of the person's browser.

export function saveFile(name: string, parts: readonly BlobPart[], type: string): void {
  const url = URL.createObjectURL(new Blob([...parts], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser has taken the content when the click has returned; Safari takes it a little later.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
