package voicecorpus

import "parlance.dev/parlance/test/voices"

var (
	englishVoices = []voices.Voice{
		flite("slt", "1.0"),
		espeak("en-us", "160"),
		flite("rms", "0.85"),
		espeak("en-gb+f3", "180"),
		flite("awb", "1.0"),
		espeak("en-us+m3", "150"),
		flite("kal16", "0.9"),
		flite("slt", "0.8"),
		espeak("en-us+f2", "190"),
		flite("rms", "1.1"),
	}
	agentVoice = flite("slt", "0.95")
)

func flite(name, speed string) voices.Voice {
	return voices.Voice{Engine: "flite", Name: name, Speed: speed}
}

func espeak(name, speed string) voices.Voice {
	return voices.Voice{Engine: "espeak-ng", Name: name, Speed: speed}
}

// sentences are what users say; "|" is where they may pause.
var sentences = []string{
	"What are your | opening hours on Sunday?",
	"I would like to book a table | for four people tomorrow evening.",
	"Can you tell me | how much the delivery costs to Norway?",
	"My washing machine | does not drain any more.",
	"I ordered a lamp last week and | it has not arrived.",
	"Is there | a parking space near the hotel?",
	"I want to change my address because | we are moving to Bristol next month.",
	"How long does the battery | of the small model last?",
	"Please send me | the invoice for March.",
	"I think | I was charged twice for the same order.",
	"Do you have this jacket in blue | and in a larger size?",
	"Which documents do I need | to open an account?",
	"The app shows an error when | I try to log in.",
	"We are travelling with two children and | a dog.",
	"Could you move my appointment to | Thursday afternoon?",
	"I have a question about | the warranty of my phone.",
	"Where can I find | the serial number?",
	"It worked yesterday but | this morning the light was red.",
	"I need a room with | a view of the sea for three nights.",
	"What happens if | I return it after thirty days?",
	"The parcel was left with a neighbour | who is on holiday.",
	"Tell me more about | the second option.",
	"I am looking for a present for | my mother who likes gardening.",
	"Does the price include breakfast | and the use of the pool?",
}

// short are whole turns of a word or two.
var short = []string{"Yes.", "No.", "Tomorrow.", "Two please.", "Nothing else.", "Maybe later.", "In the morning.", "Blue."}

// answers are what the agent says.
var answers = []string{
	"We are open from nine to five on weekdays, and on Saturdays until noon. On public holidays the shop stays closed, but you can " +
		"always reach us through the website.",
	"Delivery to Norway takes four to six working days and costs twelve euros. Orders above one hundred euros are delivered free of " +
		"charge, and you will get a message when the parcel leaves our warehouse.",
	"The small model lasts for about ten hours of continuous use. The larger one has a second battery inside, which doubles that, and it " +
		"charges in ninety minutes.",
	"You can return everything within thirty days. Put the article in its box, print the label from your account, and bring the parcel to " +
		"the nearest post office.",
}

var (
	acknowledgements = []string{
		"Uh-huh.", "Okay.", "Yeah.", "Right.", "I see.", "Yes.", "Sure.", "Got it.", "Mm-hmm.", "Okay, yeah.", "Great.", "Thanks.",
	}
	interruptions = []string{
		"Excuse me, I meant the other one.", "What about Sundays?", "How much is it in dollars?", "That is not what I asked for.",
		"Can you say that again please?", "I only need the phone number.", "Tell me about the other model instead.", "Do you ship to Sweden?",
	}
	stops  = []string{"Stop.", "Wait.", "Hold on.", "No, wait.", "One moment."}
	values = []struct{ question, text string }{
		{"Sure. What is your phone number?", "Five five five | one two three | four five six seven."},
		{"What is your e-mail address?", "Anna dot miller | at example | dot com."},
		{"What is your order number?", "Four two | seven seven | one three | nine zero | two two."},
		{"What is your date of birth?", "The third of May | nineteen eighty four."},
	}
	foreign = []struct {
		language string
		by       voices.Voice
		texts    []string
	}{
		{"de", espeak("de", "160"), []string{"Ja, genau.", "Mhm.", "Alles klar.", "Verstehe."}},
		{"fr", espeak("fr", "160"), []string{"D'accord.", "Oui, oui.", "Très bien."}},
		{"es", espeak("es", "160"), []string{"Vale.", "Sí, claro.", "De acuerdo."}},
		{"it", espeak("it", "160"), []string{"Va bene.", "Certo.", "Sì."}},
		{"pt", espeak("pt", "160"), []string{"Está bem.", "Claro."}},
		{"nl", espeak("nl", "160"), []string{"Ja, precies.", "Prima."}},
	}
)
