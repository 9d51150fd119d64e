/** Who may own lanes and borrow now. Where one process alone may, it is the engine. */
export const IS_OWNER = "EXISTS (SELECT 1 FROM owners WHERE owner = ?)";
