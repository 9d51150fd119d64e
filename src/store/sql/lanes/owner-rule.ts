/** Who may own lanes and hold permits. With a single engine, only the engine. */
export const IS_OWNER = "EXISTS (SELECT 1 FROM owners WHERE owner = ?)";
