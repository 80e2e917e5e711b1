// Keeps the focus of the keyboard where a person works. The browser drops it when the element that has it is
// removed or disabled, and Tab would then begin at the top of the page.
import { useEffect, useState } from "react";

/**
 * For a dialog that is mounted while it is open: its end returns the focus to the control that opened it. Of
 * a menu, which is gone then, that is the button of the menu.
 */
export function useReturnedFocus(): void {
  const [opener] = useState(() => controlOf(document.activeElement));
  useEffect(
    () => () => {
      // The dialog has not left the page yet.
      queueMicrotask(() => {
        if (hasNoFocus()) opener?.focus({ preventScroll: true });
        // The dialog led to another page, and the control is gone: the keyboard begins at this page.
        if (hasNoFocus()) document.getElementById("page")?.focus({ preventScroll: true });
      });
    },
    [opener],
  );
}

function controlOf(active: Element | null): HTMLElement | null {
  const button = active?.closest("[role=menu]")?.getAttribute("aria-labelledby");
  const control = button ? document.getElementById(button) : active;
  return control instanceof HTMLElement ? control : null;
}

const hasNoFocus = () => document.activeElement === null || document.activeElement === document.body;

/** A button is disabled while its request runs: afterwards it has the focus again, unless another has it. */
export function useKeptFocus(): void {
  useEffect(() => {
    let last: EventTarget | null = null;
    const remember = ({ target }: FocusEvent) => {
      last = target;
    };
    // A click beside it, on an element that takes no focus, leaves it: the person works elsewhere.
    const forget = ({ target }: PointerEvent) => {
      if (!(last instanceof Node && target instanceof Node && last.contains(target))) last = null;
    };
    const observer = new MutationObserver((changes) => {
      const button = changes.find(({ target }) => target === last)?.target;
      const isBack = button instanceof HTMLElement && !button.hasAttribute("disabled");
      if (isBack && hasNoFocus()) button.focus({ preventScroll: true });
    });
    addEventListener("focusin", remember);
    addEventListener("pointerdown", forget, { capture: true });
    observer.observe(document.body, { subtree: true, attributeFilter: ["disabled"] });
    return () => {
      removeEventListener("focusin", remember);
      removeEventListener("pointerdown", forget, { capture: true });
      observer.disconnect();
    };
  }, []);
}

const siblings = { below: "nextElementSibling", above: "previousElementSibling" } as const;

/** Moves the focus to a control of the row below or above, as far as there is one. */
export function focusBeside(
  row: Element,
  control: string,
  sides: readonly (keyof typeof siblings)[] = ["below", "above"],
): boolean {
  const controls = sides.map((side) => row[siblings[side]]?.querySelector<HTMLElement>(control));
  const found = controls.find((one) => one != null);
  found?.focus();
  return found != null;
}
