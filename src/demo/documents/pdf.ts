// Writes a PDF of one A4 page: strings in Helvetica, lines and areas. Places are in points from the upper
// left corner.

const pageWidth = 595;
const pageHeight = 842;

export interface PdfText {
  readonly size: number;
  readonly isBold?: boolean;
  /** Red, green and blue from 0 to 1. */
  readonly color?: PdfColor;
}

export type PdfColor = readonly [red: number, green: number, blue: number];
type PdfPoint = readonly [x: number, y: number];

const black: PdfColor = [0.12, 0.16, 0.2];

export class PdfPage {
  readonly #operators: string[] = [];

  text(text: string, [x, y]: PdfPoint, { size, isBold = false, color = black }: PdfText): void {
    const font = isBold ? "F2" : "F1";
    const place = `${size} 0 0 ${size} ${x} ${pageHeight - y}`;
    this.#operators.push(`BT ${color.join(" ")} rg /${font} 1 Tf ${place} Tm (${escaped(text)}) Tj ET`);
  }

  area([x, y]: PdfPoint, width: number, height: number, color: PdfColor): void {
    this.#operators.push(`${color.join(" ")} rg ${x} ${pageHeight - y - height} ${width} ${height} re f`);
  }

  line(
    points: readonly PdfPoint[],
    { width, color }: { readonly width: number; readonly color: PdfColor },
  ): void {
    const path = points.map(
      ([x, y], at) => `${x.toFixed(1)} ${(pageHeight - y).toFixed(1)} ${at === 0 ? "m" : "l"}`,
    );
    this.#operators.push(`${color.join(" ")} RG ${width} w ${path.join(" ")} S`);
  }

  /** The whole file. */
  bytes(title: string): Uint8Array<ArrayBuffer> {
    const content = this.#operators.join("\n");
    const objects = [
      "<< /Type /Catalog /Pages 2 0 R >>",
      "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${pageWidth} ${pageHeight}] ` +
        "/Resources << /Font << /F1 4 0 R /F2 5 0 R >> >> /Contents 6 0 R >>",
      fontOf("Helvetica"),
      fontOf("Helvetica-Bold"),
      `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
      `<< /Title (${escaped(title)}) >>`,
    ];
    let file = "%PDF-1.4\n";
    const offsets = objects.map((object, at) => {
      const offset = file.length;
      file += `${at + 1} 0 obj\n${object}\nendobj\n`;
      return offset;
    });
    const tableOffset = file.length;
    const table = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
    file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n`;
    file += `<< /Size ${objects.length + 1} /Root 1 0 R /Info 7 0 R >>\nstartxref\n${tableOffset}\n%%EOF\n`;
    return new Uint8Array(Buffer.from(file, "latin1"));
  }
}

const fontOf = (name: string) =>
  `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`;

const escaped = (text: string) => text.replaceAll(/[\\()]/g, "\\$&");
