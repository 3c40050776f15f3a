"""Words that are no terms, whatever shows them as one."""

from typing import Final

from vocabgap.text import FUNCTION_WORDS

# The hundred commonest words of English.
_COMMONEST: Final = """
the be to of and a in that have i it for not on with he as you do at this but his by from they we
say her she or an will my one all would there their what so up out if about who get which go me when
make can like time no just him know take people into year your good some could them see other than
then now look only come its over think also back after use two how our work first well way even new
want because any these give day most us
"""
# What an apostrophe leaves of a word.
_CUT: Final = "ain aren couldn didn doesn don hadn hasn haven isn mustn needn shouldn wasn weren won wouldn"
_CALENDAR: Final = """
monday tuesday wednesday thursday friday saturday sunday
january february march april may june july august september october november december
"""
# Marks of work to do, and abbreviations that everybody uses.
_MARKS: Final = "todo fixme xxx wip tbd tba nb ok fyi asap ps etc ie eg am pm ci cd"

STOP_WORDS: Final = frozenset(_COMMONEST.split())
NO_NOUNS: Final = STOP_WORDS | FUNCTION_WORDS | frozenset(_CUT.split())
NO_NAMES: Final = NO_NOUNS | frozenset(_CALENDAR.split())
NO_ACRONYMS: Final = STOP_WORDS | frozenset(_MARKS.split())
