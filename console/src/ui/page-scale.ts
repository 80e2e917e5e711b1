// The size of everything on the page: people read a control-room wall from several metres.

/** A wall, or another screen of 4K that does not scale by itself. */
const wallPx = 3_200;
if (innerWidth >= wallPx) document.documentElement.style.fontSize = "150%";

/** Style sheets follow the font size of the root element; sizes in scripts are multiplied by this. */
export const pageScale = Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
document.documentElement.style.setProperty("--icon-scale", String(pageScale));
