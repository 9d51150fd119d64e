/** Which of a lane's tasks are claimed. */
export interface ClaimOptions {
  limit: number;
  /** How many the lane can begin soon: it gets no more of the last pages that a crawl of several sites may have. */
  soon?: number;
  /** Resolvers whose budget is used up: their tasks stay in the queue, so that they do not fill the window. */
  withoutResolvers?: readonly string[];
  /** Tasks of runs with a time limit stay in the queue. */
  withoutDeadline?: boolean;
}
