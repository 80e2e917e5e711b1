// A store of blobs that keeps them all while a backup copies them.
import { fail } from "../errors.ts";
import type { BlobKey, BlobStore } from "../storage/blobs.ts";

export interface HeldBlobs {
  readonly blobs: BlobStore;
  /** Refuses removals until the returned function is called; pending removals are completed later. */
  hold(): () => void;
  /** Calls the function for each blob that gets complete from now on. */
  watch(onComplete: (key: BlobKey) => void): void;
}

export function holdable(blobs: BlobStore): HeldBlobs {
  let holds = 0;
  let onComplete: (key: BlobKey) => void = () => undefined;
  return {
    blobs: {
      ...blobs,
      async complete(key) {
        await blobs.complete(key);
        onComplete(key);
      },
      async remove(key) {
        if (holds > 0) throw fail("file-store-away", { problem: "a backup copies it" });
        await blobs.remove(key);
      },
    },
    watch(call) {
      onComplete = call;
    },
    hold() {
      holds += 1;
      return () => {
        holds -= 1;
      };
    },
  };
}
