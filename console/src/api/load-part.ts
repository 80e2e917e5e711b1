// Loads the parts of the console that a page needs when it is opened.
import { baseUrl } from "./base.ts";
import { defaults } from "./generated.ts";

/**
 * A loader that fails with `ConnectionLost` when the server is not there. If it is there, a newer version may
 * have replaced the part: the router knows the browser's error and loads the whole page again.
 */
export const partOf =
  <Part>(load: () => Promise<Part>) =>
  async (): Promise<Part> => {
    try {
      return await load();
    } catch (problem) {
      await defaults.fetch!(`${baseUrl()}/health`);
      throw problem;
    }
  };
