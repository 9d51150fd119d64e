/** Saves text as a file. */
export function saveText(name: string, type: string, text: string): void {
  const href = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = document.createElement("a");
  link.href = href;
  link.download = name;
  link.click();
  // The browser has read it by then.
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
