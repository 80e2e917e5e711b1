// The strings of an SVG with their places. Entities of a document type are not expanded.
import { type SaxesAttributeNS, SaxesParser } from "saxes";
import { limits } from "../../limits.ts";
import { boxOf, type Matrix, type PlacedText, product, transformOf } from "./places.ts";

interface State {
  /** From the coordinates of the element to those of the drawing. */
  readonly matrix: Matrix;
  readonly fontSize: number;
  readonly anchor: string;
  /** Of symbols and the like, which are not drawn where they are. */
  readonly isHidden: boolean;
}

/** A run of characters from one place. */
interface Run {
  x: number;
  y: number;
  text: string;
  readonly state: State;
}

type Attributes = Readonly<Record<string, string>>;

/** Letters are about this wide, in font sizes. */
const letterWidth = 0.6;
const hidden: ReadonlySet<string> = new Set([
  "defs",
  "symbol",
  "marker",
  "pattern",
  "clipPath",
  "mask",
  "title",
  "desc",
]);

export function svgTexts(source: string): PlacedText[] {
  const reader = new SvgReader();
  const parser = new SaxesParser({ xmlns: true });
  parser.on("error", (problem) => {
    // Drawing programs declare entities of their own. Browsers ignore these and show the rest.
    if (!/entity/i.test(problem.message)) throw new Error("it is not well-formed XML");
  });
  parser.on("opentag", ({ local, attributes }) => reader.open(local, plain(attributes)));
  parser.on("text", (text) => reader.add(text));
  parser.on("cdata", (text) => reader.add(text));
  parser.on("closetag", ({ local }) => reader.close(local));
  parser.write(source).close();
  return reader.texts;
}

const plain = (attributes: Readonly<Record<string, SaxesAttributeNS>>): Attributes => {
  const values: Record<string, string> = {};
  for (const { local, value } of Object.values(attributes)) values[local] = value;
  for (const [, name, value] of (values["style"] ?? "").matchAll(/([\w-]+)\s*:\s*([^;]+)/g))
    values[name!] = value!.trim();
  return values;
};

const numberIn = (text: string | undefined): number | undefined => {
  const value = Number.parseFloat(text ?? "");
  return Number.isFinite(value) ? value : undefined;
};

class SvgReader {
  readonly texts: PlacedText[] = [];
  readonly #states: State[] = [];
  #run: Run | undefined;
  #textDepth = 0;

  open(name: string, attributes: Attributes): void {
    if (this.#states.length === 0 && name !== "svg") throw new Error("it is no SVG");
    if (this.#states.length >= limits.drawingDepthMax) throw new Error("its elements are nested too deep");
    const state = this.#stateOf(name, attributes);
    this.#states.push(state);
    if (name === "text") this.#textDepth += 1;
    if (this.#textDepth === 0) return;
    const [x, y] = [numberIn(attributes["x"]), numberIn(attributes["y"])];
    if (name !== "text" && x === undefined && y === undefined) return;
    const before = this.#run;
    this.#end();
    this.#run = { x: x ?? before?.x ?? 0, y: y ?? before?.y ?? 0, text: "", state };
  }

  add(text: string): void {
    if (!this.#run || this.#run.state.isHidden) return;
    if (this.#run.text.length < limits.drawingTextLength) this.#run.text += text;
  }

  close(name: string): void {
    this.#states.pop();
    if (name !== "text") return;
    this.#textDepth -= 1;
    this.#end();
  }

  #stateOf(name: string, attributes: Attributes): State {
    const above = this.#states.at(-1);
    if (!above) {
      const size = numberIn(attributes["font-size"]) ?? 16;
      const anchor = attributes["text-anchor"] ?? "start";
      return { matrix: viewOf(attributes), fontSize: size, anchor, isHidden: false };
    }
    const { transform } = attributes;
    return {
      matrix: transform === undefined ? above.matrix : product(above.matrix, transformOf(transform)),
      fontSize: numberIn(attributes["font-size"]) ?? above.fontSize,
      anchor: attributes["text-anchor"] ?? above.anchor,
      isHidden: above.isHidden || hidden.has(name) || attributes["display"] === "none",
    };
  }

  #end(): void {
    const run = this.#run;
    this.#run = undefined;
    const text = run?.text.replaceAll(/\s+/g, " ").trim() ?? "";
    if (!run || text === "") return;
    if (this.texts.length >= limits.drawingTextsMax)
      throw new Error(`it has more than ${limits.drawingTextsMax} strings`);
    const { matrix, fontSize, anchor } = run.state;
    const width = text.length * letterWidth * fontSize;
    const left = run.x - (anchor === "middle" ? width / 2 : anchor === "end" ? width : 0);
    const corners = {
      left,
      top: run.y - 0.85 * fontSize,
      right: left + width,
      bottom: run.y + 0.25 * fontSize,
    };
    this.texts.push({ page: 1, text, ...boxOf(matrix, corners) });
  }
}

/** From the coordinates of the view box to fractions of the picture, which keeps the box in its middle. */
function viewOf(attributes: Attributes): Matrix {
  const [x = 0, y = 0, w = 0, h = 0] = (attributes["viewBox"] ?? "").split(/[\s,]+/).map(Number);
  const isRelative = (text: string | undefined) => text === undefined || text.endsWith("%");
  const { width: wide, height: high } = attributes;
  const hasBox = w > 0 && h > 0;
  const size = {
    width: isRelative(wide) ? (hasBox ? w : 300) : (numberIn(wide) ?? 300),
    height: isRelative(high) ? (hasBox ? h : 150) : (numberIn(high) ?? 150),
  };
  if (!hasBox) return [1 / size.width, 0, 0, 1 / size.height, 0, 0];
  const scale = Math.min(size.width / w, size.height / h);
  const [sx, sy] = [scale / size.width, scale / size.height];
  return [sx, 0, 0, sy, (1 - w * sx) / 2 - x * sx, (1 - h * sy) / 2 - y * sy];
}
