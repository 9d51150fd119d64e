/** Maximum number of start URLs: every page is compared with a scope built from them. */
export const MOST_STARTS = 10_000;
