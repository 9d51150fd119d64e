/** What is typed into a search takes effect after so long a pause. */
export const TYPED_MS = 350;
