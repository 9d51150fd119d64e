/** Which of a lane's tasks are claimed. */
export interface ClaimOptions {
  limit: number;
  /** Resolvers whose budget is used up: their tasks stay in the queue, so that they do not fill the window. */
  withoutResolvers?: readonly string[];
  /** Tasks of runs with a time limit stay in the queue. */
  withoutDeadline?: boolean;
}
