/** How the compiler takes the least of the processors. */
export const FRUGAL: { words: string[]; env: { GOGC: string } };
