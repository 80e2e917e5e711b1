// A store of blobs that keeps them all while a backup copies them.
import { fail } from "../errors.ts";
import type { BlobStore } from "../storage/blobs.ts";

export interface HeldBlobs {
  readonly blobs: BlobStore;
  /** Refuses removals until the returned function is called; pending removals are completed later. */
  hold(): () => void;
}

export function holdable(blobs: BlobStore): HeldBlobs {
  let holds = 0;
  return {
    blobs: {
      ...blobs,
      async remove(key) {
        if (holds > 0) throw fail("file-store-away", { problem: "a backup copies it" });
        await blobs.remove(key);
      },
    },
    hold() {
      holds += 1;
      return () => {
        holds -= 1;
      };
    },
  };
}
