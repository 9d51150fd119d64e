/** A pattern for LIKE … ESCAPE '\' that finds the text anywhere, its own signs taken as they are. */
export function likePattern(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
}
