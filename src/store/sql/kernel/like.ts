/** A pattern for LIKE … ESCAPE '\' that finds the text anywhere, literally. */
export function likePattern(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
}
