/** How long a toast is shown; twice as long with an undo button. */
export const MESSAGE_MS = 6000;
