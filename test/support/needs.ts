// Options for a test that needs a system package: `test("a page renders", needs("chromium"), async () =>
// ...)`.
import { skipWithout } from "../../scripts/system-packages.ts";

/** Skips the test, and names the package to install, where the package is missing. */
export const needs = (name: string): { skip: false | string } => ({ skip: skipWithout(name) });
