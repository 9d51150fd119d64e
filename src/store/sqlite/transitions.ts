import type { DatabaseSync } from "node:sqlite";
import { RUN_STATES, RUN_TRANSITIONS, TASK_STATES, TASK_TRANSITIONS } from "../../domain/run/states.ts";

const state = (name: (typeof TASK_STATES)[number]) => TASK_STATES.indexOf(name);

/**
 * One bit per transition of a task, set when it is legal: 8 × 8 states fit a 64-bit integer. NOT IN with a list would
 * rebuild the list for every row: settling took twice as long (100,000 against 177,000 a second).
 */
const legalTaskMoves = TASK_STATES.flatMap((from) =>
  TASK_TRANSITIONS[from].map((to) => 1n << BigInt(state(from) * 8 + state(to))),
).reduce((mask, bit) => mask | bit, 0n);

const legalRunMoves = RUN_STATES.flatMap((from) => RUN_TRANSITIONS[from].map((to) => `'${from}>${to}'`)).join(", ");

/**
 * Rejects illegal transitions, even by hand-written SQL. Migrations call this again when the transition tables have
 * grown. Before schema 24 the triggers were called `…_move`.
 */
export function keepTransitions(db: DatabaseSync): void {
  db.exec(`
    DROP TRIGGER IF EXISTS runs_move;
    DROP TRIGGER IF EXISTS runs_transition;
    CREATE TRIGGER runs_transition BEFORE UPDATE OF status ON runs
      WHEN (OLD.status || '>' || NEW.status) NOT IN (${legalRunMoves})
      BEGIN SELECT RAISE(ABORT, 'illegal transition of a run'); END;
    DROP TRIGGER IF EXISTS tasks_move;
    DROP TRIGGER IF EXISTS tasks_transition;
    CREATE TRIGGER tasks_transition AFTER UPDATE OF state ON tasks
      WHEN ((${legalTaskMoves} >> (OLD.state * 8 + NEW.state)) & 1) = 0
      BEGIN SELECT RAISE(ABORT, 'illegal transition of a task'); END;
  `);
}
