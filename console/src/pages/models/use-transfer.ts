// Sends a file to an upload link of the API, with its progress. It continues after a lost connection.
import { useRef, useState } from "react";
import { sendBytes, waitingText, withRetries } from "../../uploads/transfer.ts";

export interface TransferState {
  readonly file: File;
  /** The bytes that the server has. */
  readonly received: number;
  /** It waits to try again: why. */
  readonly waiting?: string;
}

export function useTransfer() {
  const [state, setState] = useState<TransferState>();
  const stop = useRef<AbortController>(null);
  /** Rejects when the server refuses the file. Returns false when a person canceled it. */
  const send = async (url: string, file: File): Promise<boolean> => {
    const controller = new AbortController();
    const { signal } = controller;
    stop.current = controller;
    setState({ file, received: 0 });
    const work = (onSuccess: () => void) =>
      sendBytes({
        ...{ url, file, signal },
        onProgress: ({ received }) => {
          onSuccess();
          setState({ file, received });
        },
      });
    const onWaiting = (problem: unknown) =>
      setState((before) => before && { ...before, waiting: waitingText(problem) });
    try {
      await withRetries(work, { signal, onWaiting });
      return true;
    } catch (problem) {
      if (!signal.aborted) throw problem;
      return false;
    } finally {
      setState(undefined);
    }
  };
  return { state, send, cancel: () => stop.current?.abort() };
}
