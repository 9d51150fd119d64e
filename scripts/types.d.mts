/** Compiler options for the least CPU time. */
export const FRUGAL: { words: string[]; env: { GOGC: string } };

/** Builds dist/types if it is stale. */
export function makeTypes(options?: { folder?: string; tell?: (text: string) => void }): Promise<unknown>;
