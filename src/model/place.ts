/** A place in a file that the user wrote. Lines and columns count from one. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export const formatPlace = ({ file, line, column }: Place): string => `${file}:${line}:${column}`;
