// An entry of a registry that says why something does not cover the resource.

export interface NotCovered {
  readonly notCovered: string;
}

/** `archive: none("it stores no records")` */
export const none = (reason: string): NotCovered => ({ notCovered: reason });
