// A call of the API as what somebody would write: a command, or a program that runs as it is.

import type { Call } from '../calls';
import { curl } from './curl';
import { go } from './go';
import { typescript } from './typescript';

export interface Example {
  /** curl, TypeScript or Go. */
  language: string;
  code: string;
}

/** The call in each language that is shown. */
export const examplesOf = (call: Call): Example[] => [
  { language: 'curl', code: curl(call) },
  { language: 'TypeScript', code: typescript(call) },
  { language: 'Go', code: go(call) },
];
