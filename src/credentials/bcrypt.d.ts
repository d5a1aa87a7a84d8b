/** The part of the package that is used here. */
declare module 'bcrypt' {
  export function compare(password: string, hash: string): Promise<boolean>;
}
