/** A crawl begins with so many addresses at most: every page is held against a scope that is made of them. */
export const MOST_STARTS = 10_000;
