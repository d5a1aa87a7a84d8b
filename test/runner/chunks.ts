/** Cuts a list into pieces of about equal length, none longer than `most`, in its order. */
export function chunksOf<T>(list: readonly T[], most: number): T[][] {
  const count = Math.ceil(list.length / most);
  return Array.from({ length: count }, (_, index) =>
    list.slice(Math.floor((index * list.length) / count), Math.floor(((index + 1) * list.length) / count)),
  );
}
