package guards

import (
	"encoding/base64"
	"encoding/hex"
	"html"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Does a text from outside try to tell the model what to do? This looks at it as it stands and in the disguises that a
// model may see through: look-alike letters, letters apart, base64, hexadecimal and percent codes, entities, ROT13, mirrored. It is a
// list of what is known, in some languages, and no proof of innocence.

// maxLookedAt bounds what is looked at of one text; no passage and no output for the model is longer.
const maxLookedAt = 48 << 10

// maxRuns is how many runs of each kind of code are decoded in a text.
const maxRuns = 32

// directiveSources are what texts say that are written for a model, over folded text. Documentation for people seldom does.
var directiveSources = []directiveSource{
	{[]string{`instruction`, `rule`, `prompt`, `guideline`, `direction`, `polic`, `constraint`, `orders`, `guardrail`, `limits`}, `\b(ignore|disregard|forget|override|bypass|discard|skip|drop|neglect|supersedes?|overrides?|replaces?)\b.{0,40}\b(previous|prior|above|earlier|all|any|your|the|these|those|system|other|original|preceding)\b.{0,30}\b(instructions?|rules?|prompts?|guidelines?|directions?|polic(y|ies)|constraints?|orders|guardrails?|limits)\b`, false},
	{[]string{`tool`, `function`, `endpoint`, `plugin`, `webhook`}, `\b(call|calls|calling|invoke|invoking|run|running|execute|executing|use|using|trigger|fire|launch|issue|make|emit|perform|output|activate)\b.{0,60}\b(tools?|functions?|tool.?calls?|function.?calls?|endpoint|plugin|webhook)\b`, true},
	{[]string{`tool`, `function`}, `\b(tool|function)[ _-]?(call|use|name|choice|code|input|result)s?\b`, true},
	{[]string{`"name"`, `"tool"`, `"function"`, `"arguments"`, `"parameters"`, `"tool_calls"`, `"recipient_name"`}, `"(name|tool|function|arguments|parameters|tool_calls|recipient_name)"\s*:`, true},
	{[]string{`system`, `developer`, `admin`, `security`, `priority`, `urgent`, `assistant`, `hidden`, `secret`, `internal`, `important`, `updated`, `new `}, `\b(system|developer|admin|security|priority|urgent|assistant|hidden|secret|new|updated|internal|important) (prompt|message|note|notice|override|instructions?|directive|update|alert|policy|command|task|rule|mode)s?\b.{0,80}\b(assistant|agent|ai|model|bot|you|must|shall|should|follow|obey|call|user|is|are)\b`, true},
	{[]string{`system:`, `assistant:`, `developer:`, `user:`, `human:`, `ai:`, `tool:`, `operator:`, `system :`, `user :`, `ai :`, `assistant :`}, `(^|[\n.!?"'>\])}|#*-])\s*(system|assistant|developer|user|human|ai|tool|operator)\s*:`, true},
	{[]string{`<`}, `<[|/]?\s*(system|assistant|user|tool|function|instructions?|im_start|im_end|invoke|outside|passages?)\b`, false},
	{[]string{`[/`, `[inst`, `[system`, `[assistant`, `[user`, `[tool`, `<<`, `<`, ``}, `\[/?(inst|system|assistant|user|tool)\]|<</?sys>>|<\|`, false},
	{[]string{`ai`, `a.i.`, `llm`, `assistant`, `agent`, `language model`, `chatbot`, `bot`, `model`}, `\b(dear|attention|note to|notice to|hey|hello|hi|message (to|for)|instructions? (to|for)|for|to) (the |any |all |every )?(ai|a\.i\.|llm|assistants?|agents?|language models?|chatbots?|bots?|models?)\b`, true},
	{[]string{`llm`, `language model`, `chatbot`, `assistant`, `agent`, `bot`, `model`, `ai `}, `\b(ai|llm|language model|chatbot|assistant|agent|bot|model)s?\b.{0,30}\b(must|shall|should|need|needs|has to|have to|is required|are required|please|will now|now)\b`, true},
	{[]string{`you are`}, `\byou are (now |an? |the |no longer )*(ai|assistant|agent|model|bot|chatbot|free|unrestricted|admin|dan|system|in |operating|connected|allowed|authori[sz]ed|obliged)`, false},
	{[]string{`as a`, `being a`}, `\b(as|being) an? (ai|assistant|agent|helpful|language)`, true},
	{[]string{`authori`, `approv`, `consent`, `confirm`, `agreed`, `granted`, `requested`, `wants`, `asked`, `signed`, `permission`, `gave`}, `\b(user|customer|caller|client|operator|administrator|admin|owner|company|supervisor|manager|management|team|account holder)\b.{0,50}\b(authori[sz]e[ds]?|approve[ds]?|consent(ed|s)?|confirm(ed|s)|agreed|granted|pre-?approved|requested|wants you|asked you|has asked|signed off|permission|gave)\b`, true},
	{[]string{`tell`, `inform`, `mention`, `ask`, `reveal`, `show`, `warn`, `notify`, `alert`, `let`, `confirm`, `wait`, `bother`}, `\b(do not|don't|dont|never|without|no need to) (tell|telling|inform|informing|mention|mentioning|ask|asking|reveal|show|warn|notify|notifying|alert|let|confirm|confirming|wait|waiting|bother)\b`, true},
	{[]string{`silently`, `secretly`, `covertly`, `discreetly`, `unnoticed`, `behind`, `in the background`}, `\b(silently|secretly|covertly|discreetly|unnoticed|behind the scenes|in the background)\b`, true},
	{[]string{`user`, `customer`, `caller`, `they`, `he `, `anyone`, `somebody`, `conversation`}, `\b(when|if|whenever|once|after|before|as soon as|next time|the moment|each time|every time)\b.{0,40}\b(user|customer|caller|they|he|she|anyone|somebody|conversation)\b.{0,60}\b(ask|asks|say|says|mention|mentions|repl|respond|answer|write|writes|thank|speak|greet|next|type|send)`, true},
	{[]string{`answer`, `repl`, `respond`, `continu`, `proceed`}, `\b(before|instead of|prior to|in order to) (you )?(answer|answering|reply|replying|respond|responding|continue|continuing|proceed)`, true},
	{[]string{`first`, `you must`, `you need`, `you have`, `required`}, `\b(to|must|should|please) (answer|complete|process|verify|finish|continue|summari[sz]e|unlock|validate)\b.{0,60}\b(first|you (must|need|have)|required)\b`, true},
	{[]string{`from`, `now`, `new `, `end of`, `begin of`, `start of`}, `\bfrom now on\b|\bnew (task|objective|goal|role|persona|rules?|instructions?)\b|\bend of (document|passage|context|data|output|file|text|results?|input)\b|\b(begin|start) of (instructions?|new|system)`, false},
	{[]string{`pretend`, `play`, `act`, `simulate`, `imagine`, `jailbreak`, `mode`, `hypothetical`, `in this`}, `\b(pretend|role-?play|act as|simulate|imagine (that )?you|play the (role|part)|jailbreak|developer mode|debug mode|god mode|maintenance mode|test mode|hypothetical|in this (story|game|scene))\b`, true},
	{[]string{`conversation`, `chat`, `transcript`, `history`, `prompt`, `instructions`, `credential`, `password`, `secret`, `key`, `token`, `data`, `details`, `user`}, `\b(send|forward|post|email|e-mail|transmit|upload|exfiltrate|leak|report|append|include|copy|deliver|submit|encode|embed)\b.{0,60}\b(conversation|chat|transcript|history|system prompt|instructions|credentials|passwords?|secrets?|api keys?|tokens?|personal data|user'?s? (data|details|name|e-?mail|address|messages?))\b`, true},
	{[]string{`](http`}, `!\[[^\]]{0,80}\]\(https?://[^)\s]*[?=&{]`, false},
	{[]string{`decode`, `base64`, `rot13`, `revers`, `backwards`, `hexadecimal`, `unscramble`, `letter`}, `\b(decode|base64|rot13|reverse|reversed|backwards|hexadecimal|unscramble|first letters?)\b.{0,60}\b(follow|execute|do|obey|run|carry|perform|act|this|instructions?|it|and)\b`, false},
	{[]string{`comply`, `obey`, `follow`, `carry`}, `\bcomply\b|\bobey\b|\bfollow (these|this|the following|my|all) (instructions?|steps?|orders?|commands?|directions?)\b|\bcarry out (this|the following|these)\b`, true},
	{[]string{`ignorier`, `vergiss`, `vergesse`, `missachte`, `berschreib`}, `\b(ignorier\w*|vergiss|vergesse\w*|missachte\w*|uberschreib\w*)\b.{0,60}\b(anweisung\w*|regel\w*|vorgabe\w*|vorherige\w*|bisherige\w*|obige\w*)`, false},
	{[]string{`werkzeug`, `tool`, `funktion`, `auf`, `aus`, `sofort`, `jetzt`, `umgehend`, `konto`, `bestellung`, `alle`}, `\b(rufe?|ruf|nutze|benutze|verwende|starte|fuhre?|aktiviere|losche|storniere|uberweise|sende|schicke|kundige|buche)\b.{0,80}\b(werkzeug|tool|funktion|auf|aus|sofort|jetzt|umgehend|konto|bestellung|alle)\b`, false},
	{[]string{`assistent`, `ki `, `sprachmodell`, `agent`, `du bist`, `ohne `}, `\b(assistent|ki|sprachmodell|agent)\b.{0,40}\b(muss|soll|sollst|musst|hat|bitte)\b|\bdu bist (jetzt|nun|ab)\b|\bohne (nachfrage|ruckfrage|zu fragen|den (nutzer|benutzer|kunden))`, false},
	{[]string{`instruction`, `consigne`, `regle`, `precedent`}, `\b(ignore[sz]?|oublie[sz]?|ne tiens|ne tenez)\b.{0,60}\b(instructions?|consignes?|regles?|precedente?s?)`, false},
	{[]string{`outil`, `fonction`, `immediatement`, `maintenant`, `compte`, `commande`, `tout`, `l'assistant`, `l'ia`, `vous etes`, `tu es`, `sans `}, `\b(appelle[sz]?|utilise[sz]?|execute[sz]?|lance[sz]?|supprime[sz]?|annule[sz]?|envoie|envoyez|vire[sz]?|transfere[sz]?)\b.{0,80}\b(outil|fonction|immediatement|maintenant|compte|commande|tout|tous|toutes)\b|\b(l'assistant|l'ia|vous etes (maintenant|desormais)|tu es (maintenant|desormais))\b|\bsans (demander|prevenir|informer)`, false},
	{[]string{`instruc`, `regla`, `regra`, `anterior`, `previ`}, `\b(ignora|ignore|ignorad|olvida|olvide|esqueca|esquece|desconsidere)\b.{0,60}\b(instruc\w*|reglas?|regras?|anterior\w*|previ\w*)`, false},
	{[]string{`herramienta`, `ferramenta`, `funcion`, `funcao`, `mediatamente`, `ahora`, `agora`, `cuenta`, `conta`, `pedido`, `todo`, `toda`, `asistente`, `assistente`, `sin `, `sem `}, `\b(llama|llame|usa|use|ejecuta|ejecute|execute|chame|chama|cancela|cancele|elimina|elimine|borra|borre|apague|exclua|transfiere|transfiera|transfira|envia|envie|invoca|invoque)\b.{0,80}\b(herramienta|ferramenta|funcion|funcao|inmediatamente|imediatamente|ahora|agora|cuenta|conta|pedido|todos?|todas?)\b|\b(el|o) (asistente|assistente)\b.{0,30}\b(debe|deve)\b|\bsin (preguntar|avisar|informar)|\bsem (perguntar|avisar|informar)`, false},
	{[]string{`istruzioni`, `regole`, `precedenti`, `strumento`, `funzione`, `subito`, `immediatamente`, `adesso`, `ora`, `account`, `ordine`, `tutt`}, `\b(ignora|dimentica)\b.{0,60}\b(istruzioni|regole|precedenti)|\b(chiama|usa|esegui|cancella|elimina|annulla|invia|trasferisci)\b.{0,80}\b(strumento|funzione|subito|immediatamente|adesso|ora|account|ordine|tutt[oie])\b`, false},
	{[]string{`instructies`, `regels`, `vorige`, `eerdere`, `bovenstaande`, `tool`, `functie`, `gereedschap`, `onmiddellijk`, `direct`, `nu`, `account`, `bestelling`}, `\b(negeer|vergeet)\b.{0,60}\b(instructies|regels|vorige|eerdere|bovenstaande)|\b(roep|gebruik|voer|verwijder|annuleer|stuur|maak)\b.{0,80}\b(tool|functie|gereedschap|onmiddellijk|direct|nu|account|bestelling|over)\b`, false},
	{[]string{`instrukcj`, `polece`, `zasad`, `poprzedni`, `wywo`, `uzyj`, `uruchom`, `usun`, `anuluj`, `wyslij`, `przelej`, `skasuj`}, `\b(zignoruj|zapomnij|pomin)\b.{0,60}(instrukcj|polece|zasad|poprzedni)|\b(wywo[lł]aj|uzyj|uruchom|usun|anuluj|wyslij|przelej|skasuj)\b`, false},
	{[]string{`instruktion`, `regler`, `tidigare`, `verktyg`, `funktion`, `genast`, `nu`, `konto`, `order`}, `\b(ignorera|glom)\b.{0,60}\b(instruktion\w*|regler|tidigare)|\b(anropa|anvand|kor|radera|avboka|skicka)\b.{0,60}\b(verktyg\w*|funktion\w*|genast|nu|konto\w*|order\w*)\b`, false},
	{[]string{`talimat`, `kural`, `yonerge`, `cagir`, `calistir`, `sil`, `iptal`, `gonder`, `aktar`, `kullan`, `instruksi`, `perintah`, `sebelumnya`, `alat`, `fungsi`, `akun`, `sekarang`, `pesanan`}, `(onceki|yukaridaki).{0,60}(talimat|kural|yonerge)|\b(cagir|calistir|sil|iptal et|gonder|aktar|kullan)\b|\babaikan\b.{0,60}(instruksi|perintah|sebelumnya)|\b(panggil|jalankan|hapus|batalkan|kirim)\b.{0,60}(alat|fungsi|akun|sekarang|pesanan)`, false},
	{nil, `(игнорируй|забудь|не обращай|проигнорируй|ігноруй).{0,60}(инструкц|указан|правил|предыдущ|інструкц)`, false},
	{nil, `(вызови|вызвать|используй|выполни|запусти|удали|отмени|отправь|переведи|закажи|видали|скасуй)`, true},
	{nil, `(αγνοησε|ξεχασε|αγνοηστε).{0,60}(οδηγι|κανον)`, false},
	{nil, `(καλεσε|εκτελεσε|χρησιμοποιησε|διαγραψε|ακυρωσε|στειλε)`, true},
	{nil, `(تجاهل|انس).{0,60}(التعليمات|الأوامر|السابقة)|(התעלם|התעלמי|שכח).{0,60}(הוראות|כללים)`, false},
	{nil, `(استدع|نفذ|استخدم|احذف|ألغ|أرسل|حول|الغ|الأداة)|(הפעל|קרא לכלי|מחק|בטל|שלח)`, true},
	{nil, `(निर्देश|आदेश|नियम).{0,40}(अनदेखा|भूल|नज़रअंदाज़|नजरअंदाज)|(अनदेखा|भूल|नज़रअंदाज़|नजरअंदाज).{0,40}(निर्देश|आदेश)`, false},
	{nil, `(टूल|उपकरण|फ़ंक्शन|फंक्शन)|(रद्द कर|हटा द|भेज)`, true},
	{nil, `(忽略|無視|无视|忘记|忘掉|不要理会|不理会).{0,30}(指令|指示|规则|規則|说明|要求|提示)|(调用|呼叫|執行|执行|使用|运行|运用|启动).{0,20}(工具|函数|函數|功能|接口)`, false},
	{nil, `(立即|马上|立刻|请|請).{0,20}(取消|删除|刪除|转账|轉帳|发送|發送|退款)`, true},
	{nil, `(指示|命令|ルール|プロンプト).{0,20}(無視|忘れ)|(無視|忘れ).{0,20}(指示|命令)|(ツール|関数|機能).{0,20}(呼び出|実行|使)`, false},
	{nil, `(キャンセル|削除|送信|送金|返金)(して|せよ|しろ)`, true},
	{nil, `(지시|명령|규칙|지침).{0,20}(무시|잊)|(도구|함수|기능).{0,20}(호출|실행|사용)`, false},
	{nil, `(취소|삭제|전송|송금|환불)(하|해)`, true},
	{[]string{`kont`, `tili`, `fiok`, `tilau`, `bestilling`, `ordre`, `order`, `objednavk`, `comand`, `pasutijum`, `rendeles`}, `\b(slett|slet|poista|peru|torold|mondd le|sterge\w*|anulati|dzes|atcel|zrus\w*|smaz\w*|radera|avbestill|afbestil)\b.{0,40}\b(kont\w*|tili\w*|fiok\w*|tilau\w*|bestilling\w*|ordre\w*|order\w*|objednavk\w*|comand\w*|pasutijum\w*|rendeles\w*)\b|\b(kont\w*|ordr?e\w*|objednavk\w*)\b.{0,40}\b(bort|vaek|slettes|raderas|zrus\w*|smaz\w*)\b`, false},
	{[]string{`huong dan`, `chi dan`, `quy tac`, `lenh`, `cong cu`, `ham `, `ngay`, `tai khoan`, `don hang`}, `\b(bo qua|quen|phot lo)\b.{0,60}(huong dan|chi dan|quy tac|lenh)|\b(goi|chay|su dung|xoa|huy|gui)\b.{0,40}(cong cu|ham|ngay|tai khoan|don hang)`, false},
}

// directives are compiled when a call is first looked at: commands that talk to nobody start without.
var directives = sync.OnceValue(func() *directivePatterns { return compileAll(directiveSources) })

type directiveSource struct {
	// need are parts of which one stands in every text that the pattern finds: looking for them is quick.
	need    []string
	pattern string
	// weak says that texts for people have it, too: it counts only where the text speaks of what the call does.
	weak bool
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// lookAlikes are letters of other alphabets, and digits, that stand for Latin ones.
var lookAlikes = strings.NewReplacer(
	"а", "a", "е", "e", "о", "o", "р", "p", "с", "c", "у", "y", "х", "x", "і", "i", "ј", "j", "ѕ", "s", "ԁ", "d", "һ", "h", "в", "b", "к", "k", "м", "m", "н", "h", "т", "t", "г", "r", "п", "n", "ӏ", "l",
	"α", "a", "ο", "o", "ρ", "p", "ν", "v", "υ", "u", "ι", "i", "κ", "k", "ε", "e", "τ", "t", "χ", "x", "η", "n", "σ", "o", "ω", "w", "ł", "l", "ı", "i", "ø", "o", "ɑ", "a", "ɡ", "g", "ʟ", "l", "ɪ", "i", "ᴄ", "c", "ᴀ", "a", "ɴ", "n", "ʀ", "r", "ᴅ", "d", "ᴇ", "e", "ᴏ", "o",
	"0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t", "@", "a", "$", "s",
)

// fold is the text in small letters without accents and invisible characters, compatible forms as their plain ones.
func fold(text string) string {
	if isASCII(text) {
		return strings.ToLower(text)
	}
	return norm.NFC.String(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) && r < 0x0900 || invisible(r) || r == 0x200C || r == 0x200D {
			return -1
		}
		return unicode.ToLower(r)
	}, strings.NewReplacer("’", "'", "‘", "'", "“", `"`, "”", `"`, "ß", "ss").Replace(norm.NFKD.String(text))))
}

var (
	apart      = regexp.MustCompile(`(?:\b[\pL\d_][ .·•*|/_-]{1,2}){4,}[\pL\d_]\b`)
	hexRun     = regexp.MustCompile(`(?:(?:\\x|0x|%)?[0-9a-fA-F]{2}[ :,]?){10,}`)
	escapes    = regexp.MustCompile(`(?:\\u[0-9a-fA-F]{4}){3,}`)
	wideGaps   = regexp.MustCompile(`\s{2,}|\n`)
	separators = regexp.MustCompile(`[ .·•*|/_-]`)
)

// views are the folded text and what it may be a disguise of.
func views(text string) []string {
	if len(text) > maxLookedAt {
		text = strings.ToValidUTF8(text[:maxLookedAt], "")
	}
	plain := fold(text)
	all := []string{plain}
	add := func(view string) {
		if view != "" && view != plain {
			all = append(all, view)
		}
	}
	add(tagText(text))
	if mixed(plain) {
		add(lookAlikes.Replace(plain))
	}
	if mayBeApart(plain) && apart.MatchString(plain) {
		add(apart.ReplaceAllStringFunc(plain, func(run string) string { return separators.ReplaceAllString(run, "") }))
		add(joinApart(plain))
	}
	if strings.Contains(text, "&") {
		add(fold(html.UnescapeString(text)))
	}
	if strings.Contains(text, "%") {
		if decoded, err := url.PathUnescape(text); err == nil {
			add(fold(decoded))
		}
	}
	for _, run := range base64Runs(text, maxRuns) {
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			if decoded, err := encoding.DecodeString(strings.TrimRight(run, "=")); err == nil && readable(decoded) {
				add(fold(string(decoded)))
				break
			}
		}
	}
	var hexRuns, escaped []string
	if mayBeHex(text) {
		hexRuns = hexRun.FindAllString(text, maxRuns)
	}
	if strings.Contains(text, `\u`) {
		escaped = escapes.FindAllString(text, maxRuns)
	}
	for _, run := range hexRuns {
		digits := strings.NewReplacer(`\x`, "", "0x", "", "%", "", " ", "", ":", "", ",", "").Replace(run)
		if decoded, err := hex.DecodeString(digits[:len(digits)/2*2]); err == nil && readable(decoded) {
			add(fold(string(decoded)))
		}
	}
	for _, run := range escaped {
		add(fold(unescaped(run)))
	}
	if readsAs(plain, rot13) {
		add(rot13(plain))
	}
	if readsAs(plain, mirrored) {
		add(mirrored(plain))
	}
	return all
}

// tagText is what is written in Unicode's tag characters, which nobody sees.
func tagText(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r >= 0xE0020 && r <= 0xE007E }) {
		return ""
	}
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r >= 0xE0020 && r <= 0xE007E {
			return r - 0xE0000
		}
		return -1
	}, text))
}

// joinApart takes wider gaps for those between words.
func joinApart(text string) string {
	words := wideGaps.Split(text, -1)
	for i, word := range words {
		words[i] = separators.ReplaceAllString(word, "")
	}
	return strings.Join(words, " ")
}

func unescaped(run string) string {
	var b strings.Builder
	for i := 0; i+6 <= len(run); i += 6 {
		decoded, err := hex.DecodeString(run[i+2 : i+6])
		if err == nil {
			b.WriteRune(rune(decoded[0])<<8 | rune(decoded[1]))
		}
	}
	return b.String()
}

// readable says whether bytes are text.
func readable(content []byte) bool {
	if !utf8.Valid(content) || len(content) < 8 {
		return false
	}
	odd := 0
	for _, r := range string(content) {
		if !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			odd++
		}
	}
	return odd == 0
}

func rot13(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return 'a' + (r-'a'+13)%26
		}
		return r
	}, text)
}

func mirrored(text string) string {
	runes := []rune(text)
	for i, j := 0, len(runes)-1; i < j; i, j = i+1, j-1 {
		runes[i], runes[j] = runes[j], runes[i]
	}
	return string(runes)
}
