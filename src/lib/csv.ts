// CSV as every answer and report writes it (RFC 4180).

/** Bare unless quotes are needed (client-endpoints C19). */
export const csvCell = (text: string): string =>
  /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
