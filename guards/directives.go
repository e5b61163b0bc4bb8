package guards

// directiveSource is the pattern of a directive, over folded text.
type directiveSource struct {
	// need are strings of which every text that the pattern matches has one: they are quick to look
	// for. It is nil for patterns of other alphabets.
	need    []string
	pattern string
	// weak says that texts for people match too. A weak match counts only where the text speaks of
	// what the call does.
	weak bool
}

// directiveSources are what texts say that are written for a model. Documentation for people seldom
// does. The list covers what is known, in some languages; it proves nothing about other texts.
var directiveSources = []directiveSource{
	{
		need: []string{
			`instruction`, `rule`, `prompt`, `guideline`, `direction`, `polic`, `constraint`, `orders`,
			`guardrail`, `limits`,
		},
		pattern: `\b(ignore|disregard|forget|override|bypass|discard|skip|drop|neglect|supersedes?|overrides?|replaces?)\b` +
			`.{0,40}\b(previous|prior|above|earlier|all|any|your|the|these|those|system|other|original|preceding)\b` +
			`.{0,30}\b(instructions?|rules?|prompts?|guidelines?|directions?|polic(y|ies)|constraints?|orders|guardrails?|` +
			`limits)\b`,
	},
	{
		need: []string{`tool`, `function`, `endpoint`, `plugin`, `webhook`},
		pattern: `\b(call|calls|calling|invoke|invoking|run|running|execute|executing|use|using|trigger|fire|launch|issue|make|` +
			`emit|perform|output|activate)\b.{0,60}\b(tools?|functions?|tool.?calls?|function.?calls?|endpoint|plugin|` +
			`webhook)\b`,
		weak: true,
	},
	{
		need:    []string{`tool`, `function`},
		pattern: `\b(tool|function)[ _-]?(call|use|name|choice|code|input|result)s?\b`,
		weak:    true,
	},
	{
		need: []string{
			`"name"`, `"tool"`, `"function"`, `"arguments"`, `"parameters"`, `"tool_calls"`, `"recipient_name"`,
		},
		pattern: `"(name|tool|function|arguments|parameters|tool_calls|recipient_name)"\s*:`,
		weak:    true,
	},
	{
		need: []string{
			`system`, `developer`, `admin`, `security`, `priority`, `urgent`, `assistant`, `hidden`, `secret`,
			`internal`, `important`, `updated`, `new `,
		},
		pattern: `\b(system|developer|admin|security|priority|urgent|assistant|hidden|secret|new|updated|internal|` +
			`important) (prompt|message|note|notice|override|instructions?|directive|update|alert|policy|command|task|rule|` +
			`mode)s?\b.{0,80}\b(assistant|agent|ai|model|bot|you|must|shall|should|follow|obey|call|user|is|are)\b`,
		weak: true,
	},
	{
		need: []string{
			`system:`, `assistant:`, `developer:`, `user:`, `human:`, `ai:`, `tool:`, `operator:`, `system :`,
			`user :`, `ai :`, `assistant :`,
		},
		pattern: `(^|[\n.!?"'>\])}|#*-])\s*(system|assistant|developer|user|human|ai|tool|operator)\s*:`,
		weak:    true,
	},
	{
		need:    []string{`<`},
		pattern: `<[|/]?\s*(system|assistant|user|tool|function|instructions?|im_start|im_end|invoke|outside|passages?)\b`,
	},
	{
		need:    []string{`[/`, `[inst`, `[system`, `[assistant`, `[user`, `[tool`, `<<`, `<`, ``},
		pattern: `\[/?(inst|system|assistant|user|tool)\]|<</?sys>>|<\|`,
	},
	{
		need: []string{`ai`, `a.i.`, `llm`, `assistant`, `agent`, `language model`, `chatbot`, `bot`, `model`},
		pattern: `\b(dear|attention|note to|notice to|hey|hello|hi|message (to|for)|instructions? (to|for)|for|to) (the |any |` +
			`all |every )?(ai|a\.i\.|llm|assistants?|agents?|language models?|chatbots?|bots?|models?)\b`,
		weak: true,
	},
	{
		need: []string{`llm`, `language model`, `chatbot`, `assistant`, `agent`, `bot`, `model`, `ai `},
		pattern: `\b(ai|llm|language model|chatbot|assistant|agent|bot|model)s?\b.{0,30}\b(must|shall|should|need|needs|has to|` +
			`have to|is required|are required|please|will now|now)\b`,
		weak: true,
	},
	{
		need: []string{`you are`},
		pattern: `\byou are (now |an? |the |no longer )*(ai|assistant|agent|model|bot|chatbot|free|unrestricted|admin|dan|` +
			`system|in |operating|connected|allowed|authori[sz]ed|obliged)`,
	},
	{
		need:    []string{`as a`, `being a`},
		pattern: `\b(as|being) an? (ai|assistant|agent|helpful|language)`,
		weak:    true,
	},
	{
		need: []string{
			`authori`, `approv`, `consent`, `confirm`, `agreed`, `granted`, `requested`, `wants`, `asked`,
			`signed`, `permission`, `gave`,
		},
		pattern: `\b(user|customer|caller|client|operator|administrator|admin|owner|company|supervisor|manager|management|team|` +
			`account holder)\b.{0,50}\b(authori[sz]e[ds]?|approve[ds]?|consent(ed|s)?|confirm(ed|s)|agreed|granted|` +
			`pre-?approved|requested|wants you|asked you|has asked|signed off|permission|gave)\b`,
		weak: true,
	},
	{
		need: []string{
			`tell`, `inform`, `mention`, `ask`, `reveal`, `show`, `warn`, `notify`, `alert`, `let`, `confirm`,
			`wait`, `bother`,
		},
		pattern: `\b(do not|don't|dont|never|without|no need to) (tell|telling|inform|informing|mention|mentioning|ask|asking|` +
			`reveal|show|warn|notify|notifying|alert|let|confirm|confirming|wait|waiting|bother)\b`,
		weak: true,
	},
	{
		need:    []string{`silently`, `secretly`, `covertly`, `discreetly`, `unnoticed`, `behind`, `in the background`},
		pattern: `\b(silently|secretly|covertly|discreetly|unnoticed|behind the scenes|in the background)\b`,
		weak:    true,
	},
	{
		need: []string{`user`, `customer`, `caller`, `they`, `he `, `anyone`, `somebody`, `conversation`},
		pattern: `\b(when|if|whenever|once|after|before|as soon as|next time|the moment|each time|every time)\b.{0,40}\b(user|` +
			`customer|caller|they|he|she|anyone|somebody|conversation)\b.{0,60}\b(ask|asks|say|says|mention|mentions|repl|` +
			`respond|answer|write|writes|thank|speak|greet|next|type|send)`,
		weak: true,
	},
	{
		need: []string{`answer`, `repl`, `respond`, `continu`, `proceed`},
		pattern: `\b(before|instead of|prior to|in order to) (you )?(answer|answering|reply|replying|respond|responding|` +
			`continue|continuing|proceed)`,
		weak: true,
	},
	{
		need: []string{`first`, `you must`, `you need`, `you have`, `required`},
		pattern: `\b(to|must|should|please) (answer|complete|process|verify|finish|continue|summari[sz]e|unlock|validate)\b` +
			`.{0,60}\b(first|you (must|need|have)|required)\b`,
		weak: true,
	},
	{
		need: []string{`from`, `now`, `new `, `end of`, `begin of`, `start of`},
		pattern: `\bfrom now on\b|\bnew (task|objective|goal|role|persona|rules?|instructions?)\b|\bend of (document|passage|` +
			`context|data|output|file|text|results?|input)\b|\b(begin|start) of (instructions?|new|system)`,
	},
	{
		need: []string{
			`pretend`, `play`, `act`, `simulate`, `imagine`, `jailbreak`, `mode`, `hypothetical`, `in this`,
		},
		pattern: `\b(pretend|role-?play|act as|simulate|imagine (that )?you|play the (role|part)|jailbreak|developer mode|` +
			`debug mode|god mode|maintenance mode|test mode|hypothetical|in this (story|game|scene))\b`,
		weak: true,
	},
	{
		need: []string{
			`conversation`, `chat`, `transcript`, `history`, `prompt`, `instructions`, `credential`, `password`,
			`secret`, `key`, `token`, `data`, `details`, `user`,
		},
		pattern: `\b(send|forward|post|email|e-mail|transmit|upload|exfiltrate|leak|report|append|include|copy|deliver|submit|` +
			`encode|embed)\b.{0,60}\b(conversation|chat|transcript|history|system prompt|instructions|credentials|` +
			`passwords?|secrets?|api keys?|tokens?|personal data|user'?s? (data|details|name|e-?mail|address|messages?))\b`,
		weak: true,
	},
	{
		need:    []string{`](http`},
		pattern: `!\[[^\]]{0,80}\]\(https?://[^)\s]*[?=&{]`,
	},
	{
		need: []string{`decode`, `base64`, `rot13`, `revers`, `backwards`, `hexadecimal`, `unscramble`, `letter`},
		pattern: `\b(decode|base64|rot13|reverse|reversed|backwards|hexadecimal|unscramble|first letters?)\b.{0,60}\b(follow|` +
			`execute|do|obey|run|carry|perform|act|this|instructions?|it|and)\b`,
	},
	{
		need: []string{`comply`, `obey`, `follow`, `carry`},
		pattern: `\bcomply\b|\bobey\b|\bfollow (these|this|the following|my|all) (instructions?|steps?|orders?|commands?|` +
			`directions?)\b|\bcarry out (this|the following|these)\b`,
		weak: true,
	},
	{
		need: []string{`ignorier`, `vergiss`, `vergesse`, `missachte`, `berschreib`},
		pattern: `\b(ignorier\w*|vergiss|vergesse\w*|missachte\w*|uberschreib\w*)\b.{0,60}\b(anweisung\w*|regel\w*|vorgabe\w*|` +
			`vorherige\w*|bisherige\w*|obige\w*)`,
	},
	{
		need: []string{
			`werkzeug`, `tool`, `funktion`, `auf`, `aus`, `sofort`, `jetzt`, `umgehend`, `konto`, `bestellung`,
			`alle`,
		},
		pattern: `\b(rufe?|ruf|nutze|benutze|verwende|starte|fuhre?|aktiviere|losche|storniere|uberweise|sende|schicke|kundige|` +
			`buche)\b.{0,80}\b(werkzeug|tool|funktion|auf|aus|sofort|jetzt|umgehend|konto|bestellung|alle)\b`,
	},
	{
		need: []string{`assistent`, `ki `, `sprachmodell`, `agent`, `du bist`, `ohne `},
		pattern: `\b(assistent|ki|sprachmodell|agent)\b.{0,40}\b(muss|soll|sollst|musst|hat|bitte)\b|\bdu bist (jetzt|nun|ab)\b|` +
			`\bohne (nachfrage|ruckfrage|zu fragen|den (nutzer|benutzer|kunden))`,
	},
	{
		need:    []string{`instruction`, `consigne`, `regle`, `precedent`},
		pattern: `\b(ignore[sz]?|oublie[sz]?|ne tiens|ne tenez)\b.{0,60}\b(instructions?|consignes?|regles?|precedente?s?)`,
	},
	{
		need: []string{
			`outil`, `fonction`, `immediatement`, `maintenant`, `compte`, `commande`, `tout`, `l'assistant`,
			`l'ia`, `vous etes`, `tu es`, `sans `,
		},
		pattern: `\b(appelle[sz]?|utilise[sz]?|execute[sz]?|lance[sz]?|supprime[sz]?|annule[sz]?|envoie|envoyez|vire[sz]?|` +
			`transfere[sz]?)\b.{0,80}\b(outil|fonction|immediatement|maintenant|compte|commande|tout|tous|toutes)\b|` +
			`\b(l'assistant|l'ia|vous etes (maintenant|desormais)|tu es (maintenant|desormais))\b|\bsans (demander|` +
			`prevenir|informer)`,
	},
	{
		need: []string{`instruc`, `regla`, `regra`, `anterior`, `previ`},
		pattern: `\b(ignora|ignore|ignorad|olvida|olvide|esqueca|esquece|desconsidere)\b.{0,60}\b(instruc\w*|reglas?|regras?|` +
			`anterior\w*|previ\w*)`,
	},
	{
		need: []string{
			`herramienta`, `ferramenta`, `funcion`, `funcao`, `mediatamente`, `ahora`, `agora`, `cuenta`, `conta`,
			`pedido`, `todo`, `toda`, `asistente`, `assistente`, `sin `, `sem `,
		},
		pattern: `\b(llama|llame|usa|use|ejecuta|ejecute|execute|chame|chama|cancela|cancele|elimina|elimine|borra|borre|apague|` +
			`exclua|transfiere|transfiera|transfira|envia|envie|invoca|invoque)\b.{0,80}\b(herramienta|ferramenta|funcion|` +
			`funcao|inmediatamente|imediatamente|ahora|agora|cuenta|conta|pedido|todos?|todas?)\b|\b(el|o) (asistente|` +
			`assistente)\b.{0,30}\b(debe|deve)\b|\bsin (preguntar|avisar|informar)|\bsem (perguntar|avisar|informar)`,
	},
	{
		need: []string{
			`istruzioni`, `regole`, `precedenti`, `strumento`, `funzione`, `subito`, `immediatamente`, `adesso`,
			`ora`, `account`, `ordine`, `tutt`,
		},
		pattern: `\b(ignora|dimentica)\b.{0,60}\b(istruzioni|regole|precedenti)|\b(chiama|usa|esegui|cancella|elimina|annulla|` +
			`invia|trasferisci)\b.{0,80}\b(strumento|funzione|subito|immediatamente|adesso|ora|account|ordine|tutt[oie])\b`,
	},
	{
		need: []string{
			`instructies`, `regels`, `vorige`, `eerdere`, `bovenstaande`, `tool`, `functie`, `gereedschap`,
			`onmiddellijk`, `direct`, `nu`, `account`, `bestelling`,
		},
		pattern: `\b(negeer|vergeet)\b.{0,60}\b(instructies|regels|vorige|eerdere|bovenstaande)|\b(roep|gebruik|voer|verwijder|` +
			`annuleer|stuur|maak)\b.{0,80}\b(tool|functie|gereedschap|onmiddellijk|direct|nu|account|bestelling|over)\b`,
	},
	{
		need: []string{
			`instrukcj`, `polece`, `zasad`, `poprzedni`, `wywo`, `uzyj`, `uruchom`, `usun`, `anuluj`, `wyslij`,
			`przelej`, `skasuj`,
		},
		pattern: `\b(zignoruj|zapomnij|pomin)\b.{0,60}(instrukcj|polece|zasad|poprzedni)|\b(wywo[lł]aj|uzyj|uruchom|usun|anuluj|` +
			`wyslij|przelej|skasuj)\b`,
	},
	{
		need: []string{`instruktion`, `regler`, `tidigare`, `verktyg`, `funktion`, `genast`, `nu`, `konto`, `order`},
		pattern: `\b(ignorera|glom)\b.{0,60}\b(instruktion\w*|regler|tidigare)|\b(anropa|anvand|kor|radera|avboka|skicka)\b` +
			`.{0,60}\b(verktyg\w*|funktion\w*|genast|nu|konto\w*|order\w*)\b`,
	},
	{
		need: []string{
			`talimat`, `kural`, `yonerge`, `cagir`, `calistir`, `sil`, `iptal`, `gonder`, `aktar`, `kullan`,
			`instruksi`, `perintah`, `sebelumnya`, `alat`, `fungsi`, `akun`, `sekarang`, `pesanan`,
		},
		pattern: `(onceki|yukaridaki).{0,60}(talimat|kural|yonerge)|\b(cagir|calistir|sil|iptal et|gonder|aktar|kullan)\b|` +
			`\babaikan\b.{0,60}(instruksi|perintah|sebelumnya)|\b(panggil|jalankan|hapus|batalkan|kirim)\b.{0,60}(alat|` +
			`fungsi|akun|sekarang|pesanan)`,
	},
	{
		pattern: `(игнорируй|забудь|не обращай|проигнорируй|ігноруй).{0,60}(инструкц|указан|правил|предыдущ|інструкц)`,
	},
	{
		pattern: `(вызови|вызвать|используй|выполни|запусти|удали|отмени|отправь|переведи|закажи|видали|скасуй)`,
		weak:    true,
	},
	{
		pattern: `(αγνοησε|ξεχασε|αγνοηστε).{0,60}(οδηγι|κανον)`,
	},
	{
		pattern: `(καλεσε|εκτελεσε|χρησιμοποιησε|διαγραψε|ακυρωσε|στειλε)`,
		weak:    true,
	},
	{
		pattern: `(تجاهل|انس).{0,60}(التعليمات|الأوامر|السابقة)|(התעלם|התעלמי|שכח).{0,60}(הוראות|כללים)`,
	},
	{
		pattern: `(استدع|نفذ|استخدم|احذف|ألغ|أرسل|حول|الغ|الأداة)|(הפעל|קרא לכלי|מחק|בטל|שלח)`,
		weak:    true,
	},
	{
		pattern: `(निर्देश|आदेश|नियम).{0,40}(अनदेखा|भूल|नज़रअंदाज़|नजरअंदाज)|(अनदेखा|भूल|नज़रअंदाज़|नजरअंदाज).{0,40}(निर्देश|` +
			`आदेश)`,
	},
	{
		pattern: `(टूल|उपकरण|फ़ंक्शन|फंक्शन)|(रद्द कर|हटा द|भेज)`,
		weak:    true,
	},
	{
		pattern: `(忽略|無視|无视|忘记|忘掉|不要理会|不理会).{0,30}(指令|指示|规则|規則|说明|要求|提示)|(调用|呼叫|執行|执行|使用|运行|运用|启动).{0,20}(工具|函数|函數|功能|接口)`,
	},
	{
		pattern: `(立即|马上|立刻|请|請).{0,20}(取消|删除|刪除|转账|轉帳|发送|發送|退款)`,
		weak:    true,
	},
	{
		pattern: `(指示|命令|ルール|プロンプト).{0,20}(無視|忘れ)|(無視|忘れ).{0,20}(指示|命令)|(ツール|関数|機能).{0,20}(呼び出|実行|使)`,
	},
	{
		pattern: `(キャンセル|削除|送信|送金|返金)(して|せよ|しろ)`,
		weak:    true,
	},
	{
		pattern: `(지시|명령|규칙|지침).{0,20}(무시|잊)|(도구|함수|기능).{0,20}(호출|실행|사용)`,
	},
	{
		pattern: `(취소|삭제|전송|송금|환불)(하|해)`,
		weak:    true,
	},
	{
		need: []string{
			`kont`, `tili`, `fiok`, `tilau`, `bestilling`, `ordre`, `order`, `objednavk`, `comand`, `pasutijum`,
			`rendeles`,
		},
		pattern: `\b(slett|slet|poista|peru|torold|mondd le|sterge\w*|anulati|dzes|atcel|zrus\w*|smaz\w*|radera|avbestill|` +
			`afbestil)\b.{0,40}\b(kont\w*|tili\w*|fiok\w*|tilau\w*|bestilling\w*|ordre\w*|order\w*|objednavk\w*|comand\w*|` +
			`pasutijum\w*|rendeles\w*)\b|\b(kont\w*|ordr?e\w*|objednavk\w*)\b.{0,40}\b(bort|vaek|slettes|raderas|zrus\w*|` +
			`smaz\w*)\b`,
	},
	{
		need: []string{`huong dan`, `chi dan`, `quy tac`, `lenh`, `cong cu`, `ham `, `ngay`, `tai khoan`, `don hang`},
		pattern: `\b(bo qua|quen|phot lo)\b.{0,60}(huong dan|chi dan|quy tac|lenh)|\b(goi|chay|su dung|xoa|huy|gui)\b` +
			`.{0,40}(cong cu|ham|ngay|tai khoan|don hang)`,
	},
}
