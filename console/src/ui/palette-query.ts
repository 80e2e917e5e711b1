// The text that the command palette searches for, and whether Enter was typed after it. The palette takes
// some frames to appear, or longer while its script is loading; keys that are typed meanwhile go to it, and
// not to the page.
import { spotlight } from "@mantine/spotlight";
import { useSyncExternalStore } from "react";

/** Of the input of the palette. */
export const paletteInputId = "palette-query";

export class PaletteQuery {
  readonly #listeners = new Set<() => void>();
  #text = "";
  #isEntered = false;
  #isWaiting = false;

  readonly now = (): string => this.#text;

  /** Whether a hit of the text is to be opened. */
  readonly isEntered = (): boolean => this.#isEntered;

  /** Returns the function that stops listening. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  readonly set = (text: string): void => {
    this.#text = text;
    this.enter(false);
  };

  readonly enter = (isEntered: boolean): void => {
    this.#isEntered = isEntered;
    for (const listener of this.#listeners) listener();
  };

  /**
   * Opens the palette, and takes the keys until its input has the focus or the person does something else.
   */
  readonly open = (): void => {
    spotlight.open();
    if (this.#isWaiting || document.activeElement?.id === paletteInputId) return;
    this.#isWaiting = true;
    const waiting = new AbortController();
    const options = { capture: true, signal: waiting.signal };
    const end = () => {
      this.#isWaiting = false;
      waiting.abort();
    };
    const onFocus = ({ target }: FocusEvent) => {
      if (!(target instanceof HTMLInputElement) || target.id !== paletteInputId) return;
      end();
      target.setSelectionRange(target.value.length, target.value.length);
    };
    addEventListener("focusin", onFocus, options);
    const onPointer = () => {
      end();
      this.enter(false);
    };
    addEventListener("pointerdown", onPointer, options);
    addEventListener("keydown", (event) => this.#take(event, end), options);
  };

  #take(event: KeyboardEvent, end: () => void): void {
    const { key, repeat, ctrlKey, altKey, metaKey } = event;
    if (key !== "Enter") this.enter(false);
    const isLetter = key.length === 1 && (event.getModifierState("AltGraph") || !(ctrlKey || altKey));
    if (metaKey || !(isLetter || ["Backspace", "Enter", "Escape"].includes(key))) return;
    event.preventDefault();
    event.stopPropagation();
    if (isLetter) this.set(this.#text + key);
    if (key === "Backspace") this.set(this.#text.slice(0, -1));
    // A repeated Enter is still the one that opened the palette, by its button.
    if (key === "Enter" && !repeat) this.enter(true);
    if (key !== "Escape") return;
    end();
    this.set("");
    spotlight.close();
  }
}

export const usePaletteText = (query: PaletteQuery): string =>
  useSyncExternalStore(query.subscribe, query.now);

export const useIsEntered = (query: PaletteQuery): boolean =>
  useSyncExternalStore(query.subscribe, query.isEntered);
