/** Which of a lane's tasks are claimed. */
export interface ClaimOptions {
  limit: number;
  /** How many the lane can begin soon: it gets no more of the last pages that a crawl of several sites may have. */
  soon?: number;
  /** Resolvers whose budget is used up: their tasks stay in the queue, so that they do not fill the window. */
  withoutResolvers?: readonly string[];
  /**
   * Of these resolvers so many tasks may be claimed, null: any number; the others wait for a unit of the budget. Of resolvers
   * that do not stand here, items of the queue are not claimed: whether there is a limit is looked up first.
   */
  resolverRoom?: Readonly<Record<string, number | null>>;
  /** So many tasks of all resolvers with a limit together: what could not begin would seem to be in progress. */
  limitedRoom?: number;
  /** Tasks of runs with a time limit stay in the queue. */
  withoutDeadline?: boolean;
}
