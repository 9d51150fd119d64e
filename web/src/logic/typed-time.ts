/** Debounce of search fields. */
export const TYPED_MS = 350;
