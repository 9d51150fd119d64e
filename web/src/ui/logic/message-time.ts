/** So long is shown what is said in passing; twice as long what can be taken back. */
export const MESSAGE_MS = 6000;
