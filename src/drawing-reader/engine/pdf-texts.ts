// The strings of a PDF with their places.
import { getDocumentProxy } from "unpdf";
import { limits } from "../../limits.ts";
import { boxOf, type Matrix, type PlacedText, product } from "./places.ts";

interface TextItem {
  readonly str: string;
  readonly transform: readonly number[];
  readonly width: number;
}

export async function pdfTexts(bytes: Uint8Array): Promise<PlacedText[]> {
  const document = await opened(bytes);
  const texts: PlacedText[] = [];
  for (let page = 1; page <= Math.min(document.numPages, limits.drawingPagesMax); page++) {
    const read = await document.getPage(page);
    const { width, height, transform } = read.getViewport({ scale: 1 });
    const view = product([1 / width, 0, 0, 1 / height, 0, 0], transform as unknown as Matrix);
    const { items } = await read.getTextContent();
    for (const item of items)
      if ("str" in item && item.str.trim() !== "") texts.push({ page, ...placed(item as TextItem, view) });
    if (texts.length > limits.drawingTextsMax)
      throw new Error(`it has more than ${limits.drawingTextsMax} strings`);
    read.cleanup();
  }
  return texts;
}

async function opened(bytes: Uint8Array) {
  try {
    return await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 });
  } catch (problem) {
    const { name } = problem as Error;
    throw new Error(name === "PasswordException" ? "it needs a password" : "it is no readable PDF");
  }
}

/** The matrix of a string has its font size; its width is measured already. */
function placed({ str, transform, width }: TextItem, view: Matrix): Omit<PlacedText, "page"> {
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = transform;
  const [along, up] = [Math.hypot(a, b) || 1, Math.hypot(c, d) || 1];
  const matrix = product(view, [a / along, b / along, c / up, d / up, e, f]);
  const box = boxOf(matrix, { left: 0, top: 0.85 * up, right: width, bottom: -0.25 * up });
  return { text: str.replaceAll(/\s+/g, " ").trim().slice(0, limits.drawingTextLength), ...box };
}
