// Draws pages of a PDF as pictures, because nothing can be put over the browser's own viewer.
//
// No script and no font of the file is loaded: letters are drawn as paths. The library is loaded when it is
// needed first, as it is larger than the console.

const widthPx = 2_000;
/** Of a page that is much higher than wide. */
const heightPxMax = 8_000;

export interface PdfPicture {
  readonly picture: Blob;
  readonly pages: number;
}

/** Rejects if the file cannot be read or drawn. */
export async function pdfPicture(file: Blob, page: number): Promise<PdfPicture> {
  const [{ getDocumentProxy }, bytes] = await Promise.all([import("unpdf"), file.arrayBuffer()]);
  const pdf = await getDocumentProxy(new Uint8Array(bytes), { disableFontFace: true, verbosity: 0 });
  try {
    const drawn = await pdf.getPage(Math.min(page, pdf.numPages));
    const { width, height } = drawn.getViewport({ scale: 1 });
    const viewport = drawn.getViewport({ scale: Math.min(widthPx / width, heightPxMax / height) });
    const canvas = Object.assign(document.createElement("canvas"), {
      width: Math.ceil(viewport.width),
      height: Math.ceil(viewport.height),
    });
    await drawn.render({ canvas, viewport }).promise;
    return { picture: await pictureOf(canvas), pages: pdf.numPages };
  } finally {
    await pdf.loadingTask.destroy();
  }
}

const pictureOf = (canvas: HTMLCanvasElement): Promise<Blob> =>
  new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the page is too large"))));
  });
