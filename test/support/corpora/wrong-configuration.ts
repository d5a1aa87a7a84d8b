/**
 * A sentence, the sections that are wrong, and what is reported: `line:column: key: rule (value)`. FOLDER stands for the
 * folder of the file; required sections that a row does not mention are added, and are good.
 */
export type WrongConfiguration = readonly [sentence: string, sections: string, ...lines: string[]];
