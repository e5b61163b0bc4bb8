// Why a model is not offered a tool, in words.

const reasons: Record<string, string> = {
  attachment_disabled: 'switched off',
  not_enabled: 'not attached',
  disabled_tools: 'turned off for this agent',
  memory_off: "the agent's memory is off",
  plan: 'not in your plan',
  shadowed: 'another tool has its name',
  not_available: 'this installation does not have it',
  unreachable: 'its server does not answer',
  no_such_tool: 'its server has no such tool',
  name_refused: 'its name is refused',
  schema_refused: 'its schema is refused',
  too_many: 'there are too many tools',
};

/** The words for a `disabled_reason`. */
export const reasonName = (reason: string) => reasons[reason] ?? reason;
