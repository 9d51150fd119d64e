/** How the compiler takes the least of the processors. */
export const FRUGAL: { words: string[]; env: { GOGC: string } };

/** Makes dist/types of the sources, if it is not what they say. */
export function makeTypes(options?: { folder?: string; tell?: (text: string) => void }): Promise<unknown>;
