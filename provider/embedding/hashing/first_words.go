package hashing

// stopWords are English words that nearly every text and question holds. Changing them changes
// the vectors, and so the model's name.
var stopWords = map[string]bool{
	"a": true, "about": true, "above": true, "after": true, "again": true, "against": true, "all": true, "also": true,
	"am": true, "an": true, "and": true, "any": true, "are": true, "aren't": true, "as": true, "at": true, "be": true,
	"because": true, "been": true, "before": true, "being": true, "below": true, "between": true, "both": true,
	"but": true, "by": true, "can": true, "can't": true, "cannot": true, "could": true, "couldn't": true, "did": true,
	"didn't": true, "do": true, "does": true, "doesn't": true, "doing": true, "don't": true, "down": true,
	"during": true, "each": true, "either": true, "else": true, "ever": true, "every": true, "few": true, "for": true,
	"from": true, "further": true, "get": true, "gets": true, "give": true, "given": true, "go": true, "goes": true,
	"got": true, "had": true, "has": true, "hasn't": true, "have": true, "haven't": true, "having": true, "he": true,
	"her": true, "here": true, "hers": true, "him": true, "his": true, "how": true, "however": true, "i": true,
	"i'd": true, "i'll": true, "i'm": true, "i've": true, "if": true, "in": true, "into": true, "is": true,
	"isn't": true, "it": true, "it'd": true, "it'll": true, "its": true, "itself": true, "just": true, "know": true,
	"let": true, "like": true, "many": true, "may": true, "me": true, "might": true, "more": true, "most": true,
	"much": true, "must": true, "my": true, "need": true, "no": true, "nor": true, "not": true, "now": true,
	"of": true, "off": true, "often": true, "on": true, "once": true, "one": true, "only": true, "or": true,
	"other": true, "our": true, "ours": true, "out": true, "over": true, "own": true, "per": true, "please": true,
	"same": true, "shall": true, "she": true, "should": true, "so": true, "some": true, "such": true, "tell": true,
	"than": true, "that": true, "the": true, "their": true, "them": true, "then": true, "there": true,
	"there's": true, "these": true, "they": true, "they're": true, "this": true, "those": true, "through": true,
	"to": true, "too": true, "under": true, "until": true, "up": true, "upon": true, "us": true, "use": true,
	"used": true, "using": true, "very": true, "want": true, "was": true, "wasn't": true, "way": true, "we": true,
	"we're": true, "well": true, "were": true, "what": true, "what's": true, "when": true, "where": true,
	"where's": true, "whether": true, "which": true, "while": true, "who": true, "who's": true, "whom": true,
	"whose": true, "why": true, "will": true, "with": true, "within": true, "without": true, "won't": true,
	"would": true, "you": true, "you'd": true, "you'll": true, "you're": true, "you've": true, "your": true,
	"yours": true,
}

// commonWords are English words of many texts that still say a little.
var commonWords = map[string]bool{
	"able": true, "add": true, "allow": true, "ask": true, "available": true, "back": true, "begin": true,
	"best": true, "better": true, "big": true, "call": true, "case": true, "change": true, "choose": true,
	"close": true, "come": true, "contain": true, "day": true, "days": true, "different": true, "done": true,
	"end": true, "enter": true, "example": true, "find": true, "first": true, "five": true, "following": true,
	"four": true, "full": true, "good": true, "great": true, "help": true, "high": true, "hour": true, "hours": true,
	"include": true, "includes": true, "keep": true, "kind": true, "last": true, "least": true, "left": true,
	"less": true, "life": true, "line": true, "list": true, "little": true, "long": true, "look": true, "made": true,
	"main": true, "make": true, "makes": true, "making": true, "man": true, "member": true, "minute": true,
	"minutes": true, "month": true, "months": true, "name": true, "new": true, "next": true, "note": true,
	"number": true, "old": true, "open": true, "part": true, "people": true, "place": true, "point": true,
	"possible": true, "put": true, "read": true, "right": true, "run": true, "say": true, "says": true,
	"second": true, "see": true, "seen": true, "send": true, "set": true, "several": true, "show": true,
	"since": true, "small": true, "something": true, "start": true, "still": true, "support": true, "system": true,
	"take": true, "takes": true, "thing": true, "things": true, "think": true, "three": true, "time": true,
	"times": true, "today": true, "true": true, "two": true, "type": true, "week": true, "weeks": true, "whole": true,
	"work": true, "working": true, "works": true, "world": true, "write": true, "year": true, "years": true,
}
